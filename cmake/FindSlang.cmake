# Finds the Slang compiler and defines kf::slang. SLANG_ROOT (cache or environment) picks one: a folder with
# include/slang.h and the library. Where that isn't set, in this order:
#   1. an installed CMake package `slang`
#   2. VULKAN_SDK (environment)
#   3. the wheels of Python_EXECUTABLE, else of `python3`: `slangpy`, and where it is there as well the newer compiler of
#      `slangtorch`, which lacks slang.h and the optimiser
# Says what it found. The library's version is in Slang_VERSION where its file name tells it.
include(FindPackageHandleStandardArgs)

set(SLANG_ROOT "" CACHE PATH "A Slang release: a folder with include/slang.h and lib/libslang-compiler.so")

# Looks in one folder; sets Slang_INCLUDE_DIR and Slang_LIBRARY together or not at all.
function(kf_look_for_slang root)
    if(NOT root OR Slang_LIBRARY)
        return()
    endif()
    find_path(header slang.h PATHS ${root} PATH_SUFFIXES include include/slang NO_DEFAULT_PATH NO_CACHE)
    find_library(library NAMES slang-compiler slang PATHS ${root} PATH_SUFFIXES lib lib64 . NO_DEFAULT_PATH NO_CACHE)
    if(NOT library)  # a wheel carries no unversioned link
        file(GLOB versioned LIST_DIRECTORIES false
            ${root}/libslang-compiler.so.* ${root}/lib/libslang-compiler.so.*)
        list(SORT versioned COMPARE NATURAL ORDER DESCENDING)
        list(POP_FRONT versioned library)
    endif()
    if(header AND library)
        set(Slang_INCLUDE_DIR ${header} PARENT_SCOPE)
        set(Slang_LIBRARY ${library} PARENT_SCOPE)
    endif()
endfunction()

# The folder of a wheel, without importing it.
function(kf_wheel_folder python wheel result)
    execute_process(
        COMMAND ${python} -c "import importlib.util as u; s = u.find_spec('${wheel}'); print(s.submodule_search_locations[0] if s else '')"
        OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# kf_compose_slang(<slangpy's folder> <compiler> <version> <result>): makes a folder of the build tree with everything. Slang
# opens what lies beside it by its own version's name. The optimiser of any release will do; modules compiled by another
# release are left out, as Slang compiles their sources then. The compiler is a link, which leads kfgen to other wheels.
function(kf_compose_slang slangpy compiler version result)
    set(folder ${CMAKE_BINARY_DIR}/slang-${version})
    if(NOT EXISTS ${folder}/composed)
        file(REMOVE_RECURSE ${folder})
        cmake_path(GET compiler PARENT_PATH compilers)
        cmake_path(GET compiler FILENAME name)
        file(MAKE_DIRECTORY ${folder}/lib)
        file(CREATE_LINK ${compiler} ${folder}/lib/${name} COPY_ON_ERROR SYMBOLIC)
        file(GLOB opened ${compilers}/libslang-gl*-${version}.so ${slangpy}/libslang-glslang-*.so)
        foreach(library ${opened})
            cmake_path(GET library FILENAME name)
            string(REGEX REPLACE "^(libslang-gl.*)-.*" "\\1-${version}.so" name ${name})
            file(CREATE_LINK ${library} ${folder}/lib/${name} COPY_ON_ERROR)
        endforeach()
        file(GLOB sources RELATIVE ${slangpy} ${slangpy}/slang-standard-module-*/slang/*.slang)
        foreach(source ${sources})
            string(REGEX REPLACE "^slang-standard-module-[^/]*" "lib/slang-standard-module-${version}" copy ${source})
            configure_file(${slangpy}/${source} ${folder}/${copy} COPYONLY)
        endforeach()
        file(GLOB headers ${slangpy}/include/slang*.h)
        file(COPY ${headers} DESTINATION ${folder}/include)
        file(TOUCH ${folder}/composed)
    endif()
    set(${result} ${folder} PARENT_SCOPE)
endfunction()

# The folder of a Slang from wheels, and which these are.
function(kf_slang_of_wheels python result wheels)
    kf_wheel_folder(${python} slangpy slangpy)
    kf_wheel_folder(${python} slangtorch slangtorch)
    set(${result} "${slangpy}" PARENT_SCOPE)
    set(${wheels} "slangpy wheel of ${python}" PARENT_SCOPE)
    file(GLOB compiler "${slangtorch}/bin/libslang-compiler.so.0.*")
    if(slangpy AND slangtorch AND compiler MATCHES "[.]so[.]0[.]([0-9.]+)$")
        kf_compose_slang(${slangpy} ${compiler} ${CMAKE_MATCH_1} folder)
        set(${result} ${folder} PARENT_SCOPE)
        set(${wheels} "slangtorch and slangpy wheels of ${python}" PARENT_SCOPE)
    endif()
endfunction()

unset(Slang_INCLUDE_DIR)
unset(Slang_LIBRARY)
set(Slang_SOURCE "")
set(slang_root "${SLANG_ROOT}")
if(NOT slang_root)
    set(slang_root "$ENV{SLANG_ROOT}")
endif()
if(NOT slang_root)
    find_package(slang CONFIG QUIET)
endif()
if(TARGET slang::slang AND NOT slang_root)
    set(Slang_SOURCE "CMake package in ${slang_DIR}")
    set(Slang_INCLUDE_DIR "${slang_DIR}")
    set(Slang_LIBRARY slang::slang)
    set(Slang_VERSION "${slang_VERSION}")
    if(NOT TARGET kf::slang)
        add_library(kf::slang INTERFACE IMPORTED GLOBAL)
        target_link_libraries(kf::slang INTERFACE slang::slang)
    endif()
else()
    if(slang_root)
        kf_look_for_slang("${slang_root}")
        set(Slang_SOURCE "SLANG_ROOT")
    else()
        kf_look_for_slang("$ENV{VULKAN_SDK}")
        set(Slang_SOURCE "Vulkan SDK")
        foreach(python ${Python_EXECUTABLE} python3)
            if(NOT Slang_LIBRARY)
                kf_slang_of_wheels(${python} folder Slang_SOURCE)
                kf_look_for_slang("${folder}")
            endif()
        endforeach()
    endif()
    if(Slang_LIBRARY MATCHES "[.]so[.]0[.]([0-9.]+)$")
        set(Slang_VERSION ${CMAKE_MATCH_1})
    endif()
    if(Slang_LIBRARY AND NOT TARGET kf::slang)
        add_library(kf::slang SHARED IMPORTED GLOBAL)
        set_target_properties(kf::slang PROPERTIES
            IMPORTED_LOCATION ${Slang_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${Slang_INCLUDE_DIR})
        # Slang opens libslang-glslang, its optimiser, at run time and goes on without it when it isn't
        # found. Under a sanitizer dlopen() is libasan's, and searches the program's RPATH, not Slang's.
        if(KF_SANITIZE)
            target_link_options(kf::slang INTERFACE -Wl,--disable-new-dtags)
        endif()
    endif()
endif()

if(slang_root)
    set(slang_reason "SLANG_ROOT='${slang_root}' has no include/slang.h, or no lib/libslang-compiler.so.")
else()
    set(slang_reason "Looked for a CMake package `slang`, VULKAN_SDK='$ENV{VULKAN_SDK}' and the wheels of \
'${Python_EXECUTABLE}' and python3. Set SLANG_ROOT, or `pip install slangpy` (and `pip install --no-deps slangtorch` for a newer Slang), or run ./bootstrap build, or turn \
KF_BUILD_TOOL off.")
endif()
find_package_handle_standard_args(Slang
    REQUIRED_VARS Slang_LIBRARY Slang_INCLUDE_DIR
    VERSION_VAR Slang_VERSION
    REASON_FAILURE_MESSAGE "${slang_reason}")
if(Slang_FOUND)
    message(STATUS "Slang ${Slang_VERSION} from ${Slang_SOURCE}: ${Slang_LIBRARY}")
endif()
