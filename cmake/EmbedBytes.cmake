# kf_embed_bytes(<target> OUTPUT_NAME <name> [NAMESPACE <ns>] FILES <file> ...)
#
# Puts files of any size into <target> as they are, by the assembler. Its sources may then `#include "<name>.h"`,
# which declares
#     namespace <ns> { std::string_view <identifier>(); ... }
# The identifier is the file's name with every other character than letters, digits and _ made a _. NAMESPACE
# defaults to kf::embedded. A changed file is embedded anew by the next build.
function(kf_embed_bytes target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME;NAMESPACE" "FILES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_OUTPUT_NAME OR NOT arg_FILES)
        message(FATAL_ERROR "kf_embed_bytes(${target}): OUTPUT_NAME and FILES are required; not known: '${arg_UNPARSED_ARGUMENTS}'")
    endif()
    if(NOT arg_NAMESPACE)
        set(arg_NAMESPACE kf::embedded)
    endif()

    set(declarations "")
    set(symbols "")
    set(definitions "")
    set(sections "")
    foreach(file IN LISTS arg_FILES)
        get_filename_component(name ${file} NAME)
        string(MAKE_C_IDENTIFIER ${name} identifier)
        set(symbol kf_${arg_OUTPUT_NAME}_${identifier})
        string(APPEND declarations "std::string_view ${identifier}();\n")
        string(APPEND symbols "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
        string(APPEND definitions 
            "std::string_view ${identifier}() { return {${symbol}, std::size_t(${symbol}_end - ${symbol})}; }\n")
        string(APPEND sections
            "    .balign 16\n    .globl ${symbol}\n${symbol}:\n    .incbin \"${file}\"\n"
            "    .globl ${symbol}_end\n${symbol}_end:\n    .byte 0\n")
    endforeach()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded_${arg_OUTPUT_NAME})
    set(output ${folder}/${arg_OUTPUT_NAME})
    file(CONFIGURE OUTPUT ${output}.h CONTENT
        "// Bytes embedded by kf_embed_bytes.\n#pragma once\n\n#include <string_view>\n\nnamespace ${arg_NAMESPACE} {\n\n${declarations}\n}  // namespace ${arg_NAMESPACE}\n")
    file(CONFIGURE OUTPUT ${output}.cpp CONTENT
        "// Bytes embedded by kf_embed_bytes.\n#include \"${arg_OUTPUT_NAME}.h\"\n\n#include <cstddef>\n\nextern \"C\" {\n${symbols}}\n\nnamespace ${arg_NAMESPACE} {\n\n${definitions}\n}  // namespace ${arg_NAMESPACE}\n")
    file(CONFIGURE OUTPUT ${output}.S CONTENT
        "/* Bytes embedded by kf_embed_bytes. */\n    .section .rodata\n${sections}    .section .note.GNU-stack,\"\",%progbits\n")
    set_source_files_properties(${output}.S PROPERTIES OBJECT_DEPENDS "${arg_FILES}")
    target_sources(${target} PRIVATE ${output}.cpp ${output}.S)
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
