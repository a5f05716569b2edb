# SPDX-License-Identifier: Apache-2.0
# Functions to find dependencies. Each call names the purpose of a dependency and the Debian package
# that contains it.

# thalweg_missing(name package what): notes a missing dependency without which nothing can be built.
function(thalweg_missing name package what)
    set_property(GLOBAL APPEND_STRING PROPERTY thalweg_missing
                                               "   ${name}: ${what} (Debian: ${package})\n")
endfunction()

# thalweg_stop_if_missing(): ends the configuration if dependencies are missing, with a line for
# each.
function(thalweg_stop_if_missing)
    get_property(lines GLOBAL PROPERTY thalweg_missing)
    if(lines)
        message(FATAL_ERROR " not found, but needed (docs/dependencies.md):\n${lines}")
    endif()
endfunction()

# thalweg_require(name package what): find_package for a dependency without which nothing can be
# built.
macro(thalweg_require name package what)
    find_package(${name} QUIET)
    if(NOT ${name}_FOUND)
        thalweg_missing("${name}" "${package}" "${what}")
    endif()
endmacro()

# thalweg_optional(option name): adds a choice of AUTO (use it if it is found), ON or OFF.
function(thalweg_optional option name)
    set(${option} AUTO CACHE STRING "Build with ${name}: AUTO (where it is found) | ON | OFF")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
endfunction()

# thalweg_without(option name package lost): reports a dependency that is not found or not wanted,
# and the feature that is lost.
function(thalweg_without option name package lost)
    if(${option} STREQUAL "OFF")
        message(STATUS "without ${name} (${option}=OFF): ${lost}")
    elseif(${option} STREQUAL "AUTO")
        message(STATUS "without ${name}: ${lost} (Debian: ${package})")
    else()
        thalweg_missing("${name}, because ${option}=${${option}}" "${package}" "without it ${lost}")
    endif()
endfunction()

# thalweg_needed(library result): sets `result` to the sonames of the libraries that a shared
# library needs.
function(thalweg_needed library result)
    set(names "")
    if(CMAKE_READELF AND EXISTS "${library}")
        execute_process(COMMAND ${CMAKE_READELF} -d "${library}" OUTPUT_VARIABLE text ERROR_QUIET)
        string(REGEX REPLACE "[][]" " " text "${text}") # brackets would join elements of a list
        string(REGEX MATCHALL "NEEDED[^\n]*" lines "${text}")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^.*: *([^ ]+) *$" "\\1" name "${line}")
            list(APPEND names "${name}")
        endforeach()
    endif()
    set(${result} "${names}" PARENT_SCOPE)
endfunction()

# thalweg_foreign_mpi(result libraries...): sets `result` to the MPI library that one of the
# libraries was built with, if this is not the MPI of this build. Two MPI libraries in one process
# do not work. The result is empty if there is no other MPI.
function(thalweg_foreign_mpi result)
    set(own "")
    foreach(library IN LISTS MPI_C_LIBRARIES)
        get_filename_component(real "${library}" REALPATH)
        get_filename_component(name "${real}" NAME)
        list(APPEND own "${name}")
    endforeach()
    set(foreign "")
    foreach(library IN LISTS ARGN)
        thalweg_needed("${library}" names)
        list(FILTER names INCLUDE REGEX "^libmpi(ch)?([_.].*)?$")
        list(FILTER names EXCLUDE REGEX "cxx|fort|_usempi|_mpifh")
        foreach(name IN LISTS names)
            # libmpi.so.40 may be a link to the file libmpi.so.40.30.4.
            if(NOT own MATCHES "(^|;)${name}")
                set(foreign "${name}")
            endif()
        endforeach()
    endforeach()
    set(${result} "${foreign}" PARENT_SCOPE)
endfunction()
