# kf_embed_text(<target> OUTPUT_NAME <name> [NAMESPACE <ns>] FILES <[identifier=]file> ...)
#
# Puts text files into <target>. Its sources may then `#include "<name>.h"`, which declares
#     namespace <ns> { extern const std::string_view <identifier>; ... }
# The identifier is the file's name with every other character than letters, digits and _ made a _
# (cpp_header.mustache: cpp_header_mustache), unless stated. NAMESPACE defaults to kf::embedded.
# A changed file is embedded anew by the next build. Text of any length and bytes works.
set(KF_EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_text_script.cmake)

function(kf_embed_text target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME;NAMESPACE" "FILES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_OUTPUT_NAME OR NOT arg_FILES)
        message(FATAL_ERROR "kf_embed_text(${target}): OUTPUT_NAME and FILES are required; not known: '${arg_UNPARSED_ARGUMENTS}'")
    endif()
    if(NOT arg_NAMESPACE)
        set(arg_NAMESPACE kf::embedded)
    endif()

    set(entries "")
    set(paths "")
    foreach(file IN LISTS arg_FILES)
        if(file MATCHES "^([A-Za-z_][A-Za-z0-9_]*)=(.+)$")
            set(identifier ${CMAKE_MATCH_1})
            set(file ${CMAKE_MATCH_2})
        else()
            get_filename_component(name ${file} NAME)
            string(MAKE_C_IDENTIFIER ${name} identifier)
        endif()
        get_filename_component(file ${file} ABSOLUTE)
        list(APPEND paths ${file})
        list(APPEND entries ${identifier}=${file})
    endforeach()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded_${arg_OUTPUT_NAME})
    set(output ${folder}/${arg_OUTPUT_NAME})
    list(JOIN entries "|" joined)
    add_custom_command(
        OUTPUT ${output}.cpp ${output}.h
        COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D NAMESPACE=${arg_NAMESPACE} -D "ENTRIES=${joined}"
            -P ${KF_EMBED_TEXT_SCRIPT}
        DEPENDS ${paths} ${KF_EMBED_TEXT_SCRIPT}
        COMMENT "Embedding text: ${arg_OUTPUT_NAME}"
        VERBATIM)
    target_sources(${target} PRIVATE ${output}.cpp ${output}.h)
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
