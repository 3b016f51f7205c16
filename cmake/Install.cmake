# Installation: the package KernelFunctions with the components runtime and tool.
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
    install(TARGETS kfgen EXPORT KernelFunctionsTool COMPONENT tool)
    install(EXPORT KernelFunctionsTool NAMESPACE kf:: DESTINATION ${package_dir} COMPONENT tool
        FILE KernelFunctionsToolTargets.cmake)
endif()

configure_package_config_file(cmake/KernelFunctionsConfig.cmake.in KernelFunctionsConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(KernelFunctionsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/KernelFunctionsConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/KernelFunctionsConfigVersion.cmake
    cmake/AddKernelFunctions.cmake
    DESTINATION ${package_dir} COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/KernelFunctions COMPONENT runtime)
