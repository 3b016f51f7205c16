# Fails when PROGRAM is linked with a shared library other than those of C and C++. Drivers are opened at run time.
execute_process(COMMAND ${READELF} -d ${PROGRAM} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][]" "'" text "${text}")  # brackets would keep list elements together
string(REGEX MATCHALL "NEEDED[^\n]*'[^'\n]+'" lines "${text}")
if(NOT lines)
    message(FATAL_ERROR "${PROGRAM}: no needed libraries were found in:\n${text}")
endif()
foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*'([^']+)'" "\\1" library "${line}")
    if(NOT library MATCHES "^(libstdc[+][+]|libgcc_s|libc|libm|libpthread|libdl|ld-linux-[a-z0-9-]+)[.]so")
        message(SEND_ERROR "${PROGRAM} needs ${library}")
    endif()
endforeach()
