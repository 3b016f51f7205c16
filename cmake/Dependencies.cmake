# Everything that is not ours: found here once, used by target name.
find_package(Threads REQUIRED)
if(KF_BUILD_TOOL OR KF_BUILD_TESTS)
    find_package(nlohmann_json 3.11 REQUIRED)
endif()

# Header-only packages without a CMake package of their own.
function(kf_header_only target header package)
    find_path(${target}_INCLUDE_DIR ${header})
    if(NOT ${target}_INCLUDE_DIR)
        message(FATAL_ERROR "${header} was not found: install ${package} or set ${target}_INCLUDE_DIR")
    endif()
    mark_as_advanced(${target}_INCLUDE_DIR)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIR})
    string(REPLACE kf_ kf:: alias ${target})
    add_library(${alias} ALIAS ${target})
endfunction()

kf_header_only(kf_vulkan_headers vulkan/vulkan_core.h libvulkan-dev)

if(KF_BUILD_TOOL)
    kf_header_only(kf_mustache kainjow/mustache.hpp libkainjow-mustache-dev)
    find_package(CLI11 2.1 REQUIRED)
    # Its header alone: kfgen opens the library when a spec has "structs". Without it such specs are refused.
    foreach(version RANGE 24 14 -1)
        list(APPEND llvm_hints /usr/lib/llvm-${version}/include)
    endforeach()
    find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h HINTS ${llvm_hints})
    mark_as_advanced(LIBCLANG_INCLUDE_DIR)
    if(NOT LIBCLANG_INCLUDE_DIR)
        message(STATUS "clang-c/Index.h was not found: kfgen will refuse \"structs\"; libclang-dev has it")
    endif()
endif()
if(KF_BUILD_SAMPLES)
    kf_header_only(kf_stb stb/stb_image_write.h libstb-dev)
endif()

# The project's own virtual environment (made by ./bootstrap) is preferred to other Pythons.
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
    set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
endif()
if(KF_BUILD_PYTHON)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    if(NOT pybind11_DIR)
        execute_process(
            COMMAND ${Python_EXECUTABLE} -c "import pybind11; print(pybind11.get_cmake_dir())"
            OUTPUT_VARIABLE pybind11_cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        set(pybind11_ROOT ${pybind11_cmake_dir})
    endif()
    set(PYBIND11_FINDPYTHON ON)
    find_package(pybind11 2.11 CONFIG REQUIRED)
else()
    find_package(Python 3.10 COMPONENTS Interpreter)
endif()

if(KF_BUILD_TOOL)
    find_package(Slang MODULE REQUIRED)
endif()

if(KF_BUILD_TESTS)
    find_package(GTest REQUIRED)
    include(GoogleTest)
endif()
