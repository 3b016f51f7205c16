# Installation. Components: runtime (the shared library), development (headers, archive, CMake package, docs), tool
# (kfgen with Slang) and python. The package KernelFunctions has what of it is installed.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/KernelFunctions)
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/kernelfunctions)

# kf_install_printed(<file> <argument> ...): what kfgen prints for these arguments.
function(kf_install_printed file)
    list(JOIN ARGN " " arguments)
    install(CODE "
        execute_process(COMMAND \"$<TARGET_FILE:kfgen>\" ${arguments} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
        message(STATUS \"Installing: \${CMAKE_INSTALL_PREFIX}/${file}\")
        file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\" \"\${text}\")
        " COMPONENT tool)
endfunction()

# Code of an installation that sets `slang` to Slang's library, and `opened` to what it opens in its folder when it
# runs: its optimiser, and modules.
set(kf_slang_files "
        set(slang \"$<TARGET_FILE:$<IF:$<TARGET_EXISTS:slang::slang>,slang::slang,kf::slang>>\")
        cmake_path(GET slang PARENT_PATH slang_folder)
        file(REAL_PATH \"\${slang}\" slang)
        file(GLOB opened \"\${slang_folder}/libslang-gls*.so*\" \"\${slang_folder}/slang-standard-module-*\")
        ")

if(TARGET kf_runtime)
    install(TARGETS kf_runtime EXPORT KernelFunctionsRuntime
        ARCHIVE COMPONENT development
        FILE_SET HEADERS COMPONENT development)
    install(EXPORT KernelFunctionsRuntime NAMESPACE kf:: DESTINATION ${package_dir} COMPONENT development
        FILE KernelFunctionsRuntimeTargets.cmake)
endif()
if(TARGET kf_runtime_shared)
    install(TARGETS kf_runtime_shared EXPORT KernelFunctionsSharedRuntime
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
    install(EXPORT KernelFunctionsSharedRuntime NAMESPACE kf:: DESTINATION ${package_dir} COMPONENT development
        FILE KernelFunctionsSharedRuntimeTargets.cmake)
    install(FILES LICENSE runtime/third_party_licenses.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kernelfunctions-runtime COMPONENT runtime)
endif()
if(TARGET kfgen)
    install(TARGETS kfgen kfgen-check EXPORT KernelFunctionsTool COMPONENT tool)
    install(EXPORT KernelFunctionsTool NAMESPACE kf:: DESTINATION ${package_dir} COMPONENT tool
        FILE KernelFunctionsToolTargets.cmake)
    # It finds Slang by the way from its own folder, wherever both are put.
    set(slang_dir ${CMAKE_INSTALL_LIBDIR}/kernelfunctions)
    cmake_path(RELATIVE_PATH slang_dir BASE_DIRECTORY ${CMAKE_INSTALL_BINDIR} OUTPUT_VARIABLE slang_way)
    set_target_properties(kfgen PROPERTIES INSTALL_RPATH "$ORIGIN/${slang_way}")
    install(CODE "${kf_slang_files}
        file(INSTALL \${slang} \${opened} DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${slang_dir}\"
            USE_SOURCE_PERMISSIONS FOLLOW_SYMLINK_CHAIN PATTERN __pycache__ EXCLUDE)
        " COMPONENT tool)
    install(FILES tool/spec/kernelfunctions.schema.json tool/diagnostic/diagnostic.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelfunctions
        COMPONENT tool)
    install(FILES LICENSE tool/python/third_party_licenses.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kfgen COMPONENT tool)
    if(NOT CMAKE_CROSSCOMPILING)
        kf_install_printed(${CMAKE_INSTALL_MANDIR}/man1/kfgen.1 --man)
        kf_install_printed(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/kfgen completion bash)
        kf_install_printed(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_kfgen completion zsh)
        kf_install_printed(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/kfgen.fish completion fish)
    endif()
endif()
# The package of the Python that it was built for. Of a virtual environment as prefix this is on sys.path.
if(TARGET kf_python)
    set(KF_PYTHON_INSTALL_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages
        CACHE STRING "Where the Python package is installed, relative to the prefix")
    install(TARGETS kf_python LIBRARY DESTINATION ${KF_PYTHON_INSTALL_DIR}/kernelfunctions COMPONENT python)
    get_target_property(package_files kf_python KF_PACKAGE_FILES)
    foreach(file IN LISTS package_files)
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/python/kernelfunctions)
        install(FILES ${file} DESTINATION ${KF_PYTHON_INSTALL_DIR}/kernelfunctions/${folder} COMPONENT python)
    endforeach()
else()
    set(KF_PYTHON_INSTALL_DIR lib)  # the configuration looks there and finds nothing
endif()

configure_package_config_file(cmake/KernelFunctionsConfig.cmake.in KernelFunctionsConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO PATH_VARS CMAKE_INSTALL_LIBDIR KF_PYTHON_INSTALL_DIR)
write_basic_package_version_file(KernelFunctionsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/KernelFunctionsConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/KernelFunctionsConfigVersion.cmake
    cmake/AddKernelFunctions.cmake
    DESTINATION ${package_dir} COMPONENT development)
install(FILES LICENSE README.md runtime/third_party_licenses.txt DESTINATION ${doc_dir} COMPONENT development)
install(DIRECTORY docs DESTINATION ${doc_dir} COMPONENT development
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
    PATTERN decisions EXCLUDE PATTERN results EXCLUDE PATTERN site EXCLUDE)
