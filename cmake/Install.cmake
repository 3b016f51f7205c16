# Installation: the package KernelFunctions with the components runtime, tool and python.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/KernelFunctions)

if(TARGET kf_runtime)
    install(TARGETS kf_runtime EXPORT KernelFunctionsRuntime
        COMPONENT runtime
        FILE_SET HEADERS COMPONENT runtime)
    install(EXPORT KernelFunctionsRuntime NAMESPACE kf:: DESTINATION ${package_dir} COMPONENT runtime
        FILE KernelFunctionsRuntimeTargets.cmake)
endif()
if(TARGET kfgen)
    install(TARGETS kfgen kfgen-check EXPORT KernelFunctionsTool COMPONENT tool)
    install(EXPORT KernelFunctionsTool NAMESPACE kf:: DESTINATION ${package_dir} COMPONENT tool
        FILE KernelFunctionsToolTargets.cmake)
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
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO PATH_VARS KF_PYTHON_INSTALL_DIR)
write_basic_package_version_file(KernelFunctionsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/KernelFunctionsConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/KernelFunctionsConfigVersion.cmake
    cmake/AddKernelFunctions.cmake
    DESTINATION ${package_dir} COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/KernelFunctions COMPONENT runtime)
