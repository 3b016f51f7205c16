# Debian packages of the components: `cpack -G DEB` in the build tree. Slang's libraries are inside kfgen's.
# cmake/debian does the rest of what Debian wants, when cpack runs.
set(maintainer "")
if(DEFINED ENV{DEBEMAIL})
    set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(KF_PACKAGE_MAINTAINER "${maintainer}" CACHE STRING
    "Who answers for the Debian packages: Name <address>; of DEBFULLNAME and DEBEMAIL by default")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernelfunctions)
set(CPACK_PACKAGE_VENDOR "The kernelfunctions project")
set(CPACK_PACKAGE_HOMEPAGE_URL "${PROJECT_HOMEPAGE_URL}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_KF_STRIP "${CMAKE_STRIP}")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/debian/options.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian/finish.cmake")
set(CPACK_COMPONENTS_ALL development)
if(TARGET kf_runtime_shared)
    list(APPEND CPACK_COMPONENTS_ALL runtime)
endif()
if(TARGET kfgen)
    list(APPEND CPACK_COMPONENTS_ALL tool)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${KF_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()

set(what_it_is "kernelfunctions compiles functions in the shading language Slang ahead of
time into GPU kernels, for Vulkan and CUDA, with C++ and Python functions that
launch them.
.")
# The drivers' libraries are opened when a program runs.
set(runtime_package libkernelfunctions${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "GPU kernels from Slang functions: the runtime
${what_it_is}
This package has the shared library that programs with such functions need
when they run.")
set(CPACK_KF_RUNTIME_DOC kernelfunctions-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "libvulkan1")
file(CONFIGURE OUTPUT debian/shlibs @ONLY CONTENT
    "libkf_runtime @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ @runtime_package@ (>= @PROJECT_VERSION@)\n")
file(CONFIGURE OUTPUT debian/triggers CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs ${CMAKE_CURRENT_BINARY_DIR}/debian/triggers)

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "GPU kernels from Slang functions: headers and CMake package
${what_it_is}
This package has what C++ projects with such functions are built with:
headers, a static library, a CMake package and the documentation.")
set(CPACK_KF_DEVELOPMENT_DOC kernelfunctions)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkernelfunctions-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "kfgen")
if(TARGET kf_runtime_shared)
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${runtime_package} (= ${PROJECT_VERSION})")
endif()

set(CPACK_COMPONENT_TOOL_DESCRIPTION "GPU kernels from Slang functions: the compiler
${what_it_is}
This package has kfgen, the compiler, and the Slang compiler that it uses. It
needs neither a GPU nor a driver.")
set(CPACK_KF_TOOL_DOC kfgen)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME kfgen)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
# libclang reads host structs, and is opened only then.
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "libclang1, libkernelfunctions-dev")

include(CPack)
