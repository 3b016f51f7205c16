# Read by cpack when all components are staged, before it packs them: does what Debian wants and CMake's installation
# doesn't do. Licences are in one file, /usr/share/doc/PACKAGE/copyright; there is a changelog; pages of the manual are
# compressed; Slang's libraries, which are no targets of this project, are stripped.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()

# kf_compress(<file>): to <file>.gz, without a name or a time in it.
function(kf_compress file)
    execute_process(COMMAND gzip --best --no-name --force "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(maintainer "${CPACK_DEBIAN_PACKAGE_MAINTAINER}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, if that is set
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} name)
    set(package ${CPACK_DEBIAN_${name}_PACKAGE_NAME})
    set(staged "${CPACK_TEMPORARY_DIRECTORY}/${component}")
    set(shared "${staged}/usr/share")

    # The folder of the component's own licences, which become the package's.
    set(licences "${shared}/doc/${CPACK_KF_${name}_DOC}")
    file(READ "${licences}/LICENSE" licence)
    string(FIND "${licence}" "---- LLVM Exceptions" start)
    string(SUBSTRING "${licence}" ${start} -1 exceptions)
    string(STRIP "${exceptions}" exceptions)
    string(APPEND exceptions "\n")
    file(READ "${licences}/third_party_licenses.txt" third_party)
    string(STRIP "${third_party}" third_party)
    file(REMOVE "${licences}/LICENSE" "${licences}/third_party_licenses.txt")
    configure_file("${CMAKE_CURRENT_LIST_DIR}/copyright.in" "${shared}/doc/${package}/copyright" @ONLY)
    configure_file("${CMAKE_CURRENT_LIST_DIR}/changelog.in" "${shared}/doc/${package}/changelog" @ONLY)
    kf_compress("${shared}/doc/${package}/changelog")

    file(GLOB_RECURSE pages "${shared}/man/*.[1-9]")
    foreach(page IN LISTS pages)
        kf_compress("${page}")
    endforeach()
    file(GLOB libraries "${staged}/usr/lib*/kernelfunctions/*.so*" "${staged}/usr/lib/*/kernelfunctions/*.so*")
    foreach(library IN LISTS libraries)
        execute_process(COMMAND "${CPACK_KF_STRIP}" --strip-unneeded "${library}" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endforeach()
