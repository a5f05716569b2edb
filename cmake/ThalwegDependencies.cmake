# SPDX-License-Identifier: Apache-2.0
# Finds what the library needs. docs/dependencies.md tells what each is for.

set(thalweg_languages C CXX)
if(THALWEG_BUILD_FORTRAN)
    enable_language(Fortran)
    list(APPEND thalweg_languages Fortran)
endif()

set(MPI_CXX_SKIP_MPICXX ON) # the C++ bindings that MPI 3 removed
find_package(MPI 3.1 REQUIRED COMPONENTS ${thalweg_languages})
if(THALWEG_BUILD_FORTRAN AND NOT MPI_Fortran_HAVE_F08_MODULE)
    message(FATAL_ERROR "The Fortran interface needs an MPI with the module mpi_f08 "
                        "(or configure with -DTHALWEG_BUILD_FORTRAN=OFF)")
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(pnetcdf REQUIRED IMPORTED_TARGET pnetcdf>=1.12)
include(FindNetcdfMpi)
pkg_search_module(hdf5 REQUIRED IMPORTED_TARGET hdf5-mpi hdf5)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)

if(THALWEG_BUILD_APP OR THALWEG_BUILD_BENCH)
    find_package(CLI11 REQUIRED)
endif()

# How a program is started on several ranks: "${MPIEXEC_EXECUTABLE} ${THALWEG_MPIEXEC_FLAGS} -n N".
# Open MPI has to be told that more ranks than cores, and root, are meant.
if(NOT DEFINED THALWEG_MPIEXEC_FLAGS)
    execute_process(
        COMMAND ${MPIEXEC_EXECUTABLE} --version
        OUTPUT_VARIABLE thalweg_mpiexec_version
        ERROR_VARIABLE thalweg_mpiexec_version)
    set(thalweg_flags "")
    if(thalweg_mpiexec_version MATCHES "Open MPI|OpenRTE|Open RTE")
        set(thalweg_flags --oversubscribe --allow-run-as-root --mca mpi_yield_when_idle 1 --bind-to none)
    endif()
    set(THALWEG_MPIEXEC_FLAGS "${thalweg_flags}" CACHE STRING "Flags of the MPI launcher in tests")
endif()
