# Debian packages of the components: `cpack -G DEB` in the build tree. Slang's libraries are inside kfgen's.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernelfunctions)
set(CPACK_PACKAGE_VENDOR "The kernelfunctions project")
set(CPACK_PACKAGE_CONTACT "The kernelfunctions project <kernelfunctions@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL development)
if(TARGET kf_runtime_shared)
    list(APPEND CPACK_COMPONENTS_ALL runtime)
endif()
if(TARGET kfgen)
    list(APPEND CPACK_COMPONENTS_ALL tool)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()

# The drivers' libraries are opened when a program runs.
set(runtime_package libkernelfunctions${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "GPU kernels from Slang functions: the runtime\n What programs with generated kernel functions need when they run.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "libvulkan1")
file(CONFIGURE OUTPUT debian/shlibs @ONLY CONTENT
    "libkf_runtime @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ @runtime_package@ (>= @PROJECT_VERSION@)\n")
file(CONFIGURE OUTPUT debian/triggers CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs ${CMAKE_CURRENT_BINARY_DIR}/debian/triggers)

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "GPU kernels from Slang functions: headers and CMake package\n What C++ projects with generated kernel functions are built with.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkernelfunctions-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "kfgen")
if(TARGET kf_runtime_shared)
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${runtime_package} (= ${PROJECT_VERSION})")
endif()

set(CPACK_COMPONENT_TOOL_DESCRIPTION
    "GPU kernels from Slang functions: the compiler\n kfgen compiles Slang functions ahead of time into kernels with C++ and Python wrappers.")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME kfgen)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)

include(CPack)
