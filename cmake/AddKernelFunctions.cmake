# add_kernel_functions(): Slang functions become a library that C++ code links and calls.
#
# add_kernel_functions(<target> [STATIC | SHARED]
#     SPEC <calls.kf.json>              # the call spec; required
#     [BACKENDS vulkan|cuda ...]        # instead of the spec's "targets"
#     [NAME <name>]                     # of what is generated and its namespace, instead of the spec's
#     [NAMESPACE <cpp::namespace>]      # of the generated header, instead of the spec's or NAME
#     [INCLUDE_DIRECTORIES <dir> ...]   # searched for Slang modules
#     [DEFINITIONS <A> <B=1> ...]       # for Slang's preprocessor
#     [PYTHON <package>]                # also <output directory>/<package>/{NAME.py,NAME.pyi,NAME.kfa,py.typed}
#     [TORCH_TESTS]                     # with PYTHON: also NAME_torch_test.py, tests of the functions in PyTorch
#     [SHARED_RUNTIME]                  # link kf::runtime_shared, not kf::runtime
#     [EMBED object|incbin|text]        # how NAME.kfa gets into the library
#     [NO_EMBED]                        # NAME.kfa beside the library instead of inside it: the shared library
#                                       # or program that it is linked into looks in its own folder
#     [OUTPUT_DIRECTORY <dir>]          # default: <target>.generated in KF_GENERATED_DIRECTORY, or where that
#                                       # isn't set in the current binary dir
#     [CACHE_DIR <dir>|OFF]             # where compiled kernels are kept; default: KFGEN_CACHE_DIR of the build's
#                                       # environment, or else the user's cache folder
#     [OPTIONS <option> ...]            # passed on to kfgen
#     [DEPENDS <file or target> ...])   # what must be up to date first, besides what kfgen reads itself
#
# <target> is a library, static unless SHARED or BUILD_SHARED_LIBS says otherwise, that links the runtime publicly:
# kf::runtime_shared where it is shared itself or SHARED_RUNTIME is given, else kf::runtime. A program that gets both
# would have two runtimes, and isn't configured.
#
# NAME is what is given so, or else the spec's "name". A program that links two targets of one NAME isn't configured.
#
# NAME.h is in the HEADERS file set, so `#include "NAME.h"` works for whoever links <target> and
# install(TARGETS <target> FILE_SET HEADERS) installs it. So is NAME.cuh where the spec's "outputs" have
# "cuda_header" (which needs the spec to exist when the project is configured). The target's property
# KF_ARTIFACT is the path of NAME.kfa and KF_OUTPUT_DIRECTORY its folder ($<CONFIG> is part of both with
# Multi-Config generators). Everything that kfgen read takes part in dependencies, through its depfile.
#
# Where the spec has "structs", kfgen compiles their C++ headers as <target> is compiled: with the folders and
# definitions that it has itself and from what is linked to it, before this call or behind it. The spec's own folder
# is one of them.
#
# NAME.kfa gets into the library as an object file that kfgen writes (EMBED object, the default where the target is
# an x86-64 or AArch64 machine with ELF or COFF files), else by the assembler (incbin, GCC and Clang), else as numbers in
# NAME.cpp (text), which costs compilers time and memory.
#
# kfgen is KFGEN_EXECUTABLE (set it when cross compiling: a program of the build machine), else the
# target kf::kfgen.
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(add_kernel_functions target)
    set(lists BACKENDS INCLUDE_DIRECTORIES DEFINITIONS OPTIONS DEPENDS)
    set(singles SPEC NAME NAMESPACE PYTHON OUTPUT_DIRECTORY EMBED CACHE_DIR)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;SHARED_RUNTIME;NO_EMBED;TORCH_TESTS" "${singles}" "${lists}")
    set(where "add_kernel_functions(${target})")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${where}: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(arg_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "${where}: no value after: ${arg_KEYWORDS_MISSING_VALUES}")
    endif()
    if(NOT arg_SPEC)
        message(FATAL_ERROR "${where}: SPEC <calls.kf.json> is required; 'kfgen init NAME.slang' writes one")
    endif()
    if(arg_SPEC MATCHES "[.]slang$")
        message(FATAL_ERROR "${where}: SPEC takes a spec, NAME.kf.json, and ${arg_SPEC} is a Slang module; "
            "'kfgen init ${arg_SPEC}' writes one that calls its functions")
    endif()
    if(arg_PYTHON)
        _kf_check_package("${where}" "${arg_PYTHON}")
    endif()
    if(arg_TORCH_TESTS AND NOT arg_PYTHON)
        message(FATAL_ERROR "${where}: TORCH_TESTS needs PYTHON <package>: the tests import its module")
    endif()
    if(arg_STATIC AND arg_SHARED)
        message(FATAL_ERROR "${where}: a library is STATIC or SHARED")
    endif()
    if(arg_NO_EMBED AND arg_EMBED)
        message(FATAL_ERROR "${where}: EMBED ${arg_EMBED} contradicts NO_EMBED")
    endif()
    _kf_embedding("${where}" "${arg_EMBED}" "${arg_NO_EMBED}" embedding)
    _kf_runtime("${where}" "${arg_STATIC}" "${arg_SHARED}" "${arg_SHARED_RUNTIME}" type runtime)
    foreach(backend IN LISTS arg_BACKENDS)
        if(NOT backend MATCHES "^(vulkan|cuda)$")
            message(FATAL_ERROR "${where}: unknown backend '${backend}'; known: vulkan, cuda")
        endif()
    endforeach()

    cmake_path(ABSOLUTE_PATH arg_SPEC NORMALIZE OUTPUT_VARIABLE spec)
    _kf_read_spec("${where}" ${spec} name has_cuda_header has_structs)
    _kf_generator("${where}" kfgen kfgen_dependency)
    _kf_output_directory(${target} "${arg_OUTPUT_DIRECTORY}" directory)
    if(arg_NAME)
        set(name ${arg_NAME})
        _kf_check_name("${where}: NAME" "${name}")
    endif()
    _kf_claim("${where}" ${target} ${directory} ${name})

    set(command ${kfgen} generate ${spec} -o ${directory}
        --no-progress --depfile ${directory}/${name}.d --stamp ${directory}/${name}.stamp)
    set(headers ${directory}/${name}.h)
    if(has_cuda_header)
        list(APPEND headers ${directory}/${name}.cuh)
    endif()
    set(generated ${headers} ${directory}/${name}.cpp ${directory}/${name}.kfa)
    foreach(backend IN LISTS arg_BACKENDS)
        list(APPEND command --backend ${backend})
    endforeach()
    if(arg_NAME)
        list(APPEND command --name ${name})
    endif()
    if(arg_NAMESPACE)
        list(APPEND command --namespace ${arg_NAMESPACE})
    endif()
    foreach(folder IN LISTS arg_INCLUDE_DIRECTORIES)
        if(NOT folder MATCHES "^\\$<")
            cmake_path(ABSOLUTE_PATH folder NORMALIZE)
        endif()
        list(APPEND command -I ${folder})
    endforeach()
    foreach(definition IN LISTS arg_DEFINITIONS)
        list(APPEND command -D ${definition})
    endforeach()
    if(arg_CACHE_DIR STREQUAL "OFF")
        list(APPEND command --no-cache)
    elseif(arg_CACHE_DIR)
        cmake_path(ABSOLUTE_PATH arg_CACHE_DIR BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
        list(APPEND command --cache-dir ${arg_CACHE_DIR})
    endif()
    set(cxx_options)
    if(has_structs)
        set(cxx_options ${directory}/${name}.cxx_options)
        list(APPEND command @${cxx_options})
    endif()
    set(object)
    if(arg_NO_EMBED)
        list(APPEND command --no-embed)
    else()
        list(APPEND command --embed ${embedding})
        if(embedding MATCHES "^elf-")
            set(object ${directory}/${name}.kfa.o)
        elseif(embedding MATCHES "^coff-")
            set(object ${directory}/${name}.kfa.obj)
        endif()
        list(APPEND generated ${object})
    endif()
    if(arg_PYTHON)
        list(APPEND command --python-package ${arg_PYTHON})
        list(APPEND generated ${directory}/${name}.py ${directory}/${name}.pyi)
        # That of all modules of the folder, which the first one's rule stands for.
        get_property(writer GLOBAL PROPERTY "_kf_writes ${directory}/py.typed")
        if(NOT writer)
            set_property(GLOBAL PROPERTY "_kf_writes ${directory}/py.typed" ${target})
            list(APPEND generated ${directory}/py.typed)
        endif()
    endif()
    set(tests)
    if(arg_TORCH_TESTS)
        list(APPEND command --torch-tests)
        set(tests ${name}_torch_test.py)
        list(APPEND generated ${directory}/${tests})
    endif()

    # kfgen rewrites the stamp always and the other files only when they change: what is compiled
    # from them is compiled again only then, and Make still sees the rule as done.
    add_custom_command(
        OUTPUT ${directory}/${name}.stamp
        BYPRODUCTS ${generated}
        COMMAND ${command} ${arg_OPTIONS}
        DEPENDS ${spec} ${cxx_options} ${kfgen_dependency} ${arg_DEPENDS}
        DEPFILE ${directory}/${name}.d
        COMMENT "Generating kernel functions: ${name}"
        COMMAND_EXPAND_LISTS VERBATIM)

    add_library(${target} ${type})
    target_sources(${target}
        PRIVATE ${directory}/${name}.cpp ${directory}/${name}.stamp ${object}
        PUBLIC FILE_SET HEADERS BASE_DIRS ${directory} FILES ${headers})
    if(object)
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    elseif(embedding STREQUAL "incbin")
        # The assembler finds the file by the folders for headers, which link-time optimisers aren't told.
        target_compile_options(${target} PRIVATE -fno-lto)
    endif()
    # GCC gives memory back late on machines that have much of it: so it takes a quarter less.
    target_compile_options(${target} PRIVATE
        $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=40;--param=ggc-min-heapsize=65536>)
    target_link_libraries(${target} PUBLIC ${runtime})
    target_compile_features(${target} PUBLIC cxx_std_20)
    if(type STREQUAL "SHARED")  # what NAME.cpp defines is for others to call
        set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
    endif()
    set_target_properties(${target} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        KF_ARTIFACT ${directory}/${name}.kfa
        KF_OUTPUT_DIRECTORY ${directory}
        # In a program that links two headers of one name, one of them would be found for both.
        INTERFACE_KF_NAME_${name} ${target}
        COMPATIBLE_INTERFACE_STRING KF_NAME_${name})
    if(has_structs)
        cmake_path(GET spec PARENT_PATH folder)
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
        _kf_write_cxx_options(${target} ${cxx_options})
    endif()
    if(arg_NO_EMBED)
        _kf_claim_artifact("${where}" ${target} ${type} ${name})
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND ${CMAKE_COMMAND} -E copy_if_different ${directory}/${name}.kfa $<TARGET_FILE_DIR:${target}>
            VERBATIM)
    endif()
    if(arg_PYTHON)
        _kf_python_package(${target} ${directory} ${name} ${arg_PYTHON} ${tests})
    endif()
endfunction()

# The spec's "name", after which outputs are named; whether it asks for NAME.cuh; and whether it has "structs", for
# which kfgen reads C++ headers. Of a spec that the build itself writes, NAME.kf.json, the name is all that is known.
function(_kf_read_spec where spec name_result cuda_header_result structs_result)
    set(has_cuda_header OFF)
    set(has_structs OFF)
    if(EXISTS ${spec})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${spec})
        file(READ ${spec} json)
        string(JSON name ERROR_VARIABLE error GET "${json}" name)
        if(error)
            message(FATAL_ERROR "${where}: ${spec}: can't read \"name\": ${error}")
        endif()
        string(JSON outputs ERROR_VARIABLE none GET "${json}" outputs)
        if(outputs MATCHES "\"cuda_header\"")
            set(has_cuda_header ON)
        endif()
        string(JSON struct_count ERROR_VARIABLE none LENGTH "${json}" structs)
        if(struct_count GREATER 0)
            set(has_structs ON)
        endif()
    else()
        get_source_file_property(generated ${spec} GENERATED)
        if(NOT generated)
            message(FATAL_ERROR "${where}: the spec does not exist: ${spec}")
        endif()
        cmake_path(GET spec FILENAME name)
        string(REGEX REPLACE "([.]kf)?[.]json$" "" name "${name}")
    endif()
    _kf_check_name("${where}: ${spec}: \"name\"" "${name}")
    set(${name_result} ${name} PARENT_SCOPE)
    set(${cuda_header_result} ${has_cuda_header} PARENT_SCOPE)
    set(${structs_result} ${has_structs} PARENT_SCOPE)
endfunction()

function(_kf_check_name what name)
    if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        message(FATAL_ERROR "${what} must be an identifier, not '${name}'")
    endif()
endfunction()

# Refuses a second target that writes files of this name into this folder.
function(_kf_claim where target folder name)
    get_property(other GLOBAL PROPERTY "_kf_writes ${folder}/${name}")
    if(other AND NOT other STREQUAL target)
        message(FATAL_ERROR "${where}: the target '${other}' has the NAME '${name}' in the same folder: "
            "state another NAME, or another OUTPUT_DIRECTORY")
    endif()
    set_property(GLOBAL PROPERTY "_kf_writes ${folder}/${name}" ${target})
endfunction()

# Refuses a second target whose NAME.kfa would lie beside a library of this type where the first one's does.
function(_kf_claim_artifact where target type name)
    string(REPLACE "STATIC" "ARCHIVE" kind ${type})
    string(REPLACE "SHARED" "LIBRARY" kind ${kind})
    get_target_property(folder ${target} ${kind}_OUTPUT_DIRECTORY)
    if(NOT folder)
        set(folder ${CMAKE_CURRENT_BINARY_DIR})
    endif()
    _kf_claim("${where}" ${target} ${folder} ${name})
endfunction()

# Writes a response file for kfgen: how the target compiles C++.
function(_kf_write_cxx_options target file)
    set(text "")
    if(CMAKE_CROSSCOMPILING)
        set(triple "${CMAKE_CXX_COMPILER_TARGET}")
        if(NOT triple)
            set(triple "${CMAKE_CXX_LIBRARY_ARCHITECTURE}")
        endif()
        if(triple)
            string(APPEND text "--cxx-option=--target=${triple}\n")
        endif()
        if(CMAKE_SYSROOT)
            string(APPEND text "'--cxx-option=--sysroot=${CMAKE_SYSROOT}'\n")
        endif()
    endif()
    set(standard "$<TARGET_PROPERTY:${target},CXX_STANDARD>")
    string(APPEND text "$<$<VERSION_GREATER:${standard},20>:--cxx-option=-std=c++${standard}\n>")
    foreach(kind INCLUDE_DIRECTORIES=-I COMPILE_DEFINITIONS=-D)
        string(REPLACE "=" ";" kind ${kind})
        list(GET kind 0 property)
        list(GET kind 1 option)
        set(values "$<TARGET_PROPERTY:${target},${property}>")
        set(joined "$<JOIN:${values},'\n'--cxx-option=${option}>")
        string(APPEND text "$<$<BOOL:${values}>:'--cxx-option=${option}${joined}'\n>")
    endforeach()
    # What changes layouts, or what headers see of the machine; kfgen takes the same from compile databases.
    string(CONCAT concerns_types "^-((std|stdlib|march|mcpu|mabi|mfloat-abi|mfpu)=.*|m(32|64|x32)|"
        "m(no-)?(sse|avx|fma|f16c|bmi|popcnt|altivec|vsx)[0-9a-z.]*|"
        "f(no-)?(short-enums|short-wchar|pack-struct(=.*)?|signed-char|unsigned-char|ms-extensions|rtti|exceptions))$")
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
    list(FILTER flags INCLUDE REGEX "${concerns_types}")
    foreach(flag IN LISTS flags)
        string(APPEND text "'--cxx-option=${flag}'\n")
    endforeach()
    set(values "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>,INCLUDE,${concerns_types}>")
    string(APPEND text "$<$<BOOL:${values}>:'--cxx-option=$<JOIN:${values},'\n'--cxx-option=>'\n>")
    # Writes a file for each language, since properties may depend on it: numbers.cxx_options is C++'s.
    cmake_path(REPLACE_EXTENSION file LAST_ONLY "$<LOWER_CASE:$<COMPILE_LANGUAGE>>_options" OUTPUT_VARIABLE output)
    file(GENERATE OUTPUT ${output} CONTENT "${text}" TARGET ${target})
endfunction()

# How the artifact gets into the library, as `kfgen --embed` names it.
function(_kf_embedding where stated none result)
    set(machine "")
    set(processor "${CMAKE_SYSTEM_PROCESSOR}")
    if(MSVC AND CMAKE_CXX_COMPILER_ARCHITECTURE_ID)  # of Visual Studio's projects the processor is the build machine's
        set(processor "${CMAKE_CXX_COMPILER_ARCHITECTURE_ID}")
    endif()
    if(CMAKE_SIZEOF_VOID_P EQUAL 8 AND CMAKE_CXX_BYTE_ORDER STREQUAL "LITTLE_ENDIAN" AND NOT APPLE)
        if(processor MATCHES "^(x86_64|amd64|AMD64|x64)$")
            set(machine x86_64)
        elseif(processor MATCHES "^(aarch64|arm64|ARM64)$")
            set(machine aarch64)
        endif()
        if(machine AND WIN32)
            string(REPLACE aarch64 arm64 machine coff-${machine})
        elseif(machine AND UNIX)
            set(machine elf-${machine})
        else()
            set(machine "")
        endif()
    endif()
    if(none)
        set(embedding "")
    elseif(stated MATCHES "^(incbin|text)$")
        set(embedding ${stated})
    elseif(stated STREQUAL "object" AND NOT machine)
        message(FATAL_ERROR "${where}: EMBED object: kfgen writes no object files for ${CMAKE_SYSTEM_NAME} on "
            "'${processor}'; known: ELF and COFF files for x86_64 and aarch64")
    elseif(stated AND NOT stated STREQUAL "object")
        message(FATAL_ERROR "${where}: unknown EMBED '${stated}'; known: object, incbin, text")
    elseif(machine)
        set(embedding ${machine})
    elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT WIN32)
        set(embedding incbin)
    else()
        set(embedding text)
    endif()
    set(${result} "${embedding}" PARENT_SCOPE)
endfunction()

# The library's type, and the runtime that it links.
function(_kf_runtime where static shared shared_runtime type runtime)
    if(shared OR (BUILD_SHARED_LIBS AND NOT static))
        set(${type} SHARED PARENT_SCOPE)
        set(library kf::runtime_shared)
    else()
        set(${type} STATIC PARENT_SCOPE)
        if(shared_runtime)
            set(library kf::runtime_shared)
        else()
            set(library kf::runtime)
        endif()
    endif()
    if(library STREQUAL "kf::runtime_shared" AND NOT TARGET kf::runtime_shared)
        message(FATAL_ERROR "${where}: there is no kf::runtime_shared: build KernelFunctions with KF_SHARED_RUNTIME=ON, "
            "or make the library STATIC")
    endif()
    set(${runtime} ${library} PARENT_SCOPE)
endfunction()

# The command to run kfgen by, and what to depend on for it.
function(_kf_generator where command dependency)
    if(KFGEN_EXECUTABLE)
        set(${command} ${KFGEN_EXECUTABLE} PARENT_SCOPE)
        set(${dependency} ${KFGEN_EXECUTABLE} PARENT_SCOPE)
    elseif(TARGET kf::kfgen AND NOT CMAKE_CROSSCOMPILING)
        set(${command} $<TARGET_FILE:kf::kfgen> PARENT_SCOPE)
        set(${dependency} kf::kfgen $<TARGET_FILE:kf::kfgen> PARENT_SCOPE)
    else()
        message(FATAL_ERROR "${where}: no kfgen: set KFGEN_EXECUTABLE to one that runs on this machine, "
            "or find_package(KernelFunctions COMPONENTS tool)")
    endif()
endfunction()

function(_kf_output_directory target stated result)
    if(stated)
        cmake_path(ABSOLUTE_PATH stated BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
        set(directory ${stated})
    elseif(KF_GENERATED_DIRECTORY)
        set(directory ${KF_GENERATED_DIRECTORY}/${target}.generated)
    else()
        set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}.generated)
    endif()
    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(multi_config)
        string(APPEND directory "/$<CONFIG>")
    endif()
    set(${result} ${directory} PARENT_SCOPE)
endfunction()

# Refuses a package whose name makes no folder. kfgen knows the words that Python keeps.
function(_kf_check_package where package)
    if(NOT package MATCHES "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$")
        message(FATAL_ERROR "${where}: PYTHON ${package}: Python can't import such a package: its name is words of letters, "
            "digits and _, which don't begin with a digit, with dots between them")
    endif()
endfunction()

# Copies what Python needs, and further files named, into <directory>/<package>, so that <directory> can go on sys.path.
# It depends on the stamp alone: Make knows no rule for by-products, and looks for them while kfgen still runs. py.typed
# is touched, not copied: other targets' modules may be in the same package.
function(_kf_python_package target directory name package)
    string(REPLACE "." "/" folder ${package})
    set(folder ${directory}/${folder})
    set(files ${name}.py ${name}.pyi ${name}.kfa ${ARGN})
    list(TRANSFORM files PREPEND ${directory}/ OUTPUT_VARIABLE sources)
    list(TRANSFORM files PREPEND ${folder}/ OUTPUT_VARIABLE copies)
    add_custom_command(
        OUTPUT ${directory}/${name}.python.stamp
        BYPRODUCTS ${copies}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND ${CMAKE_COMMAND} -E copy_if_different ${sources} ${folder}
        COMMAND ${CMAKE_COMMAND} -E touch ${folder}/py.typed ${directory}/${name}.python.stamp
        DEPENDS ${directory}/${name}.stamp
        VERBATIM)
    target_sources(${target} PRIVATE ${directory}/${name}.python.stamp)
endfunction()

cmake_policy(POP)
