# Run by kf_embed_text: writes OUTPUT.h and OUTPUT.cpp from ENTRIES (identifier=file|...) in NAMESPACE.
# Character lists, since compilers limit the length of string literals.
string(REPLACE "|" ";" entries "${ENTRIES}")
get_filename_component(name ${OUTPUT} NAME)

set(declarations "")
set(definitions "")
foreach(entry IN LISTS entries)
    string(REGEX MATCH "^([^=]+)=(.+)$" unused ${entry})
    set(identifier ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    file(READ ${file} bytes HEX)
    string(LENGTH "${bytes}" length)
    math(EXPR length "${length} / 2")
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND declarations "extern const std::string_view ${identifier};\n")
    string(APPEND definitions
        "namespace {\nconst char ${identifier}_bytes[] = {${bytes}'\\0'};\n}\n"
        "constinit const std::string_view ${identifier}{${identifier}_bytes, ${length}};\n")
endforeach()

file(WRITE ${OUTPUT}.h
    "// Text embedded by kf_embed_text.\n#pragma once\n\n#include <string_view>\n\n"
    "namespace ${NAMESPACE} {\n\n${declarations}\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT}.cpp
    "// Text embedded by kf_embed_text.\n#include \"${name}.h\"\n\n"
    "namespace ${NAMESPACE} {\n\n${definitions}\n}  // namespace ${NAMESPACE}\n")
