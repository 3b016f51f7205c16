# What CMake puts into the wheel of kfgen (tool/python): the programs, with Slang's libraries in their folder, where
# they find them by $ORIGIN. Only asked for by name: cmake --install <build> --component wheel-tool.
if(NOT TARGET kfgen)
    return()
endif()
install(PROGRAMS $<TARGET_FILE:kfgen> $<TARGET_FILE:kfgen-check>
    DESTINATION kfgen COMPONENT wheel-tool EXCLUDE_FROM_ALL)
install(CODE "${kf_slang_files}
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/kfgen\")
    file(COPY \"\${slang}\" \${opened} DESTINATION \"\${folder}\" PATTERN __pycache__ EXCLUDE)
    file(RPATH_SET FILE \"\${folder}/kfgen\" NEW_RPATH \"\\\$ORIGIN\")
    if(CMAKE_INSTALL_DO_STRIP)
        execute_process(COMMAND \"${CMAKE_STRIP}\" \"\${folder}/kfgen\" \"\${folder}/kfgen-check\"
            COMMAND_ERROR_IS_FATAL ANY)
    endif()
    " COMPONENT wheel-tool EXCLUDE_FROM_ALL)
