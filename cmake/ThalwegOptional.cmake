# SPDX-License-Identifier: Apache-2.0
# Dependencies, each with what it is for and the Debian package that brings it.

# thalweg_missing(name package what): notes a dependency without which there is no build.
function(thalweg_missing name package what)
    set_property(GLOBAL APPEND_STRING PROPERTY thalweg_missing
                                               "   ${name}: ${what} (Debian: ${package})\n")
endfunction()

# thalweg_stop_if_missing(): ends the configuration if something was noted, with a line for each.
function(thalweg_stop_if_missing)
    get_property(lines GLOBAL PROPERTY thalweg_missing)
    if(lines)
        message(FATAL_ERROR " not found, but needed (docs/dependencies.md):\n${lines}")
    endif()
endfunction()

# thalweg_require(name package what): find_package of what there is no build without.
macro(thalweg_require name package what)
    find_package(${name} QUIET)
    if(NOT ${name}_FOUND)
        thalweg_missing("${name}" "${package}" "${what}")
    endif()
endmacro()

# thalweg_optional(option name): a choice AUTO (where it is found), ON or OFF.
function(thalweg_optional option name)
    set(${option} AUTO CACHE STRING "Build with ${name}: AUTO (where it is found) | ON | OFF")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
endfunction()

# thalweg_without(option name package lost): what is not found, or not wanted.
function(thalweg_without option name package lost)
    if(${option} STREQUAL "OFF")
        message(STATUS "without ${name} (${option}=OFF): ${lost}")
    elseif(${option} STREQUAL "AUTO")
        message(STATUS "without ${name}: ${lost} (Debian: ${package})")
    else()
        thalweg_missing("${name}, because ${option}=${${option}}" "${package}" "without it ${lost}")
    endif()
endfunction()

# thalweg_needed(library result): the libraries that a shared library is linked with, by soname.
function(thalweg_needed library result)
    set(names "")
    if(CMAKE_READELF AND EXISTS "${library}")
        execute_process(COMMAND ${CMAKE_READELF} -d "${library}" OUTPUT_VARIABLE text ERROR_QUIET)
        string(REGEX REPLACE "[][]" " " text "${text}") # brackets would join a list's elements
        string(REGEX MATCHALL "NEEDED[^\n]*" lines "${text}")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^.*: *([^ ]+) *$" "\\1" name "${line}")
            list(APPEND names "${name}")
        endforeach()
    endif()
    set(${result} "${names}" PARENT_SCOPE)
endfunction()

# thalweg_foreign_mpi(result libraries...): the MPI with which one of the libraries is built, if it
# is not the one of this build; two in one process do not work. Empty: there is no other.
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
            # libmpi.so.40 of this build may be the file libmpi.so.40.30.4.
            if(NOT own MATCHES "(^|;)${name}")
                set(foreign "${name}")
            endif()
        endforeach()
    endforeach()
    set(${result} "${foreign}" PARENT_SCOPE)
endfunction()
