# SPDX-License-Identifier: Apache-2.0
# Two functions that check if a project can use an installed library. Both set `result` to a
# description of the problem; it is empty if there is none.

# thalweg_check_mpi(result names): compares the project's MPI with the library's, by the names of
# their shared libraries. MPICH and its relatives (.so.12) have the same binary interface.
function(thalweg_check_mpi result names)
    set(${result} "" PARENT_SCOPE)
    set(own "")
    foreach(library IN LISTS MPI_C_LIBRARIES)
        get_filename_component(real "${library}" REALPATH)
        get_filename_component(name "${real}" NAME)
        if(name MATCHES "^(libmpi[A-Za-z_]*\\.so\\.[0-9]+)")
            list(APPEND own "${CMAKE_MATCH_1}")
        endif()
    endforeach()
    if(NOT own OR NOT names OR ("${own}" MATCHES "so\\.12" AND "${names}" MATCHES "so\\.12"))
        return()
    endif()
    foreach(name IN LISTS own)
        if("${name}" IN_LIST names)
            return()
        endif()
    endforeach()
    set(${result} "the library was built with the MPI ${names}, this project uses ${own}: \
build both with one MPI (MPI_C_COMPILER, MPI_Fortran_COMPILER)" PARENT_SCOPE)
endfunction()

# thalweg_check_fortran(result id version modules): checks if the project's compiler can read the
# library's modules. For another version of the same compiler, the function tries it.
function(thalweg_check_fortran result id version modules)
    set(${result} "" PARENT_SCOPE)
    set(own "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
    if(own STREQUAL "${id} ${version}")
        return()
    endif()
    if(CMAKE_Fortran_COMPILER_ID STREQUAL id)
        set(source "${CMAKE_BINARY_DIR}/CMakeFiles/thalweg_module.f90")
        file(WRITE "${source}" "program module_is_readable\n  use thalweg_base\nend program\n")
        try_compile(thalweg_reads_modules "${CMAKE_BINARY_DIR}/CMakeFiles/thalweg_module" "${source}"
                    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${modules}")
        if(thalweg_reads_modules)
            return()
        endif()
    endif()
    set(${result} "its Fortran modules were written by ${id} ${version}, which ${own} cannot read: \
build the library with the compiler of this project (CMAKE_Fortran_COMPILER)" PARENT_SCOPE)
endfunction()
