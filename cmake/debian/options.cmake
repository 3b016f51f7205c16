# Read by cpack for each kind of package: Debian's name who answers for them.
if(CPACK_GENERATOR STREQUAL "DEB" AND NOT CPACK_DEBIAN_PACKAGE_MAINTAINER)
    message(FATAL_ERROR "Debian packages name their maintainer: give cpack "
        "-D CPACK_DEBIAN_PACKAGE_MAINTAINER=\"Name <address>\", or set KF_PACKAGE_MAINTAINER when CMake configures")
endif()
