# SPDX-License-Identifier: Apache-2.0
# thalweg_options(target) sets warnings and sanitizers, for every target of the project.
# thalweg_precompile(target header) compiles a header once for all C++ files of a target.

set(thalweg_sanitizer_flags "")
if(THALWEG_SANITIZE)
    set(thalweg_sanitizer_flags -fsanitize=${THALWEG_SANITIZE} -fno-omit-frame-pointer -g1
        -D_GLIBCXX_ASSERTIONS)
    if(THALWEG_SANITIZE MATCHES "undefined")
        # The excluded checks repeat the address sanitizer's, or are useless at -O0.
        list(APPEND thalweg_sanitizer_flags -fno-sanitize-recover=undefined
             -fno-sanitize=null,object-size,vptr)
    endif()
    # An object library, not a source of each program: a program of C++ files alone can then share
    # the tests' precompiled header.
    add_library(thalweg_sanitizer OBJECT ${PROJECT_SOURCE_DIR}/tests/support/sanitizer.c)
    target_compile_options(thalweg_sanitizer PRIVATE ${thalweg_sanitizer_flags})
endif()

function(thalweg_options target)
    set(c_family "$<COMPILE_LANGUAGE:C,CXX>")
    set(fortran "$<COMPILE_LANG_AND_ID:Fortran,GNU>") # other compilers' warnings have other names
    target_compile_options(
        ${target} PRIVATE "$<${c_family}:-Wall;-Wextra;-Wpedantic;-Wshadow>"
                          "$<${fortran}:-Wall;-Wextra;-Wimplicit-interface>")
    # -O2 compiles in five sixths of the time of -O3, which only the library's loops over elements
    # need.
    target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,${c_family}>:-O2>")
    # Line numbers for profilers and backtraces do not slow programs down.
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-g1>")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # With this option, ccache sees the contents of a precompiled header.
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # This warning is wrong for std::string in GCC 12:
        # https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
        target_compile_options(
            ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-array-bounds>")
    endif()
    # std::stable_sort of libstdc++ uses a deprecated function.
    target_compile_options(
        ${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>")
    # GCC gives wrong warnings about the code that sanitizers add.
    if(THALWEG_WERROR AND NOT THALWEG_SANITIZE)
        target_compile_options(${target} PRIVATE "$<${c_family}:-Werror>" "$<${fortran}:-Werror>")
    endif()
    if(thalweg_sanitizer_flags)
        target_compile_options(${target} PRIVATE ${thalweg_sanitizer_flags})
        target_link_options(${target} PRIVATE ${thalweg_sanitizer_flags})
        get_target_property(type ${target} TYPE)
        if(type STREQUAL "EXECUTABLE")
            target_sources(${target} PRIVATE $<TARGET_OBJECTS:thalweg_sanitizer>)
            foreach(name IN ITEMS dlclose vasprintf asprintf __vasprintf_chk __asprintf_chk)
                target_link_options(${target} PRIVATE -Wl,--export-dynamic-symbol=${name})
            endforeach()
        endif()
    endif()
endfunction()

function(thalweg_precompile target header)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
endfunction()

# thalweg_command_line(files...): names the files of the calling folder that read a program's
# options. They are compiled without optimisation, as CLI11 adds much code to each, which runs once.
function(thalweg_command_line)
    set_source_files_properties(
        ${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O0>" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# thalweg_fortran_program_options(target): gives a program a module folder of its own. Otherwise,
# programs that are built at the same time could overwrite each other's modules.
function(thalweg_fortran_program_options target)
    set_target_properties(
        ${target} PROPERTIES Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${target}.modules")
endfunction()
