# SPDX-License-Identifier: Apache-2.0
# Finds the libraries that the build needs. docs/dependencies.md explains each of them.
include(CheckLanguage)
include(ThalwegOptional)

set(thalweg_languages C CXX)
if(THALWEG_BUILD_FORTRAN)
    check_language(Fortran)
    if(CMAKE_Fortran_COMPILER)
        enable_language(Fortran)
        list(APPEND thalweg_languages Fortran)
    else()
        thalweg_missing("a Fortran compiler" gfortran
                        "the module thalweg; not needed with -DTHALWEG_BUILD_FORTRAN=OFF")
    endif()
endif()

find_package(Threads REQUIRED)
thalweg_require(fmt libfmt-dev "messages")
thalweg_require(spdlog libspdlog-dev "the log")
thalweg_require(tomlplusplus libtomlplusplus-dev "the configuration file")
thalweg_require(nlohmann_json nlohmann-json3-dev "the summary of a run")
find_path(THALWEG_XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(THALWEG_XXHASH_INCLUDE_DIR)
if(NOT THALWEG_XXHASH_INCLUDE_DIR)
    thalweg_missing("xxHash 0.8" libxxhash-dev "checksums; its header suffices")
endif()
thalweg_require(PkgConfig pkg-config "finding netCDF, HDF5, PnetCDF and others")
if(THALWEG_BUILD_APP OR (THALWEG_BUILD_LAB AND THALWEG_MPI))
    thalweg_require(CLI11 libcli11-dev "the programs; not needed with -DTHALWEG_BUILD_APP=OFF \
-DTHALWEG_BUILD_LAB=OFF")
endif()

set(MPI_CXX_SKIP_MPICXX ON) # do not use the C++ bindings, which MPI 3 removed
if(NOT THALWEG_MPI)
    include(ThalwegSerial)
elseif(THALWEG_SIMULATED)
    include(ThalwegSimulated)
else()
    find_package(MPI 3.1 QUIET COMPONENTS ${thalweg_languages})
endif()
if(NOT MPI_FOUND)
    list(JOIN thalweg_languages ", " thalweg_for)
    thalweg_missing("MPI 3.1 for ${thalweg_for}" "libopenmpi-dev or libmpich-dev"
                    "messages between ranks; its compiler wrappers are taken from PATH or from \
MPI_CXX_COMPILER and the like; not needed with -DTHALWEG_MPI=OFF, for programs of one process")
endif()
thalweg_stop_if_missing()

if(THALWEG_BUILD_FORTRAN AND THALWEG_MPI)
    # MPICH's compile options suit the Fortran compiler only, but the targets also have C sources.
    get_target_property(thalweg_options MPI::MPI_Fortran INTERFACE_COMPILE_OPTIONS)
    if(thalweg_options)
        set_property(TARGET MPI::MPI_Fortran PROPERTY INTERFACE_COMPILE_OPTIONS
                                                      "$<$<COMPILE_LANGUAGE:Fortran>:${thalweg_options}>")
    endif()
    # The module mpi_f08, where MPI has one for this compiler, is supported besides mpi.
    set(THALWEG_MPI_F08 ${MPI_Fortran_HAVE_F08_MODULE})
    if(NOT THALWEG_MPI_F08)
        message(STATUS "without mpi_f08: the Fortran interface takes communicators as integers")
    endif()
endif()

include(ThalwegNetcdf)
if(THALWEG_HAVE_NETCDF4)
    pkg_check_modules(libdeflate QUIET IMPORTED_TARGET libdeflate)
    pkg_check_modules(libzstd QUIET IMPORTED_TARGET libzstd)
    if(NOT libdeflate_FOUND)
        thalweg_missing(libdeflate libdeflate-dev
                        "compressed netCDF-4 files; not needed with -DTHALWEG_NETCDF4=OFF")
    endif()
    if(NOT libzstd_FOUND)
        thalweg_missing(zstd libzstd-dev
                        "compressed netCDF-4 files; not needed with -DTHALWEG_NETCDF4=OFF")
    endif()
endif()

thalweg_optional(THALWEG_PNETCDF PnetCDF)
set(THALWEG_HAVE_PNETCDF OFF)
if(THALWEG_MPI AND NOT THALWEG_PNETCDF STREQUAL "OFF")
    pkg_check_modules(pnetcdf QUIET IMPORTED_TARGET pnetcdf>=1.12)
    if(pnetcdf_FOUND)
        thalweg_foreign_mpi(thalweg_foreign ${pnetcdf_LINK_LIBRARIES})
        if(thalweg_foreign)
            message(STATUS "not taken: PnetCDF, built with another MPI (${thalweg_foreign})")
        else()
            set(THALWEG_HAVE_PNETCDF ON)
        endif()
    endif()
endif()
if(NOT THALWEG_HAVE_PNETCDF)
    thalweg_without(THALWEG_PNETCDF PnetCDF libpnetcdf-dev "storage=pnetcdf (MPI-IO) is an error")
endif()

thalweg_optional(THALWEG_UTF8PROC utf8proc)
set(THALWEG_HAVE_UTF8PROC OFF)
if(NOT THALWEG_UTF8PROC STREQUAL "OFF")
    pkg_check_modules(utf8proc QUIET IMPORTED_TARGET libutf8proc)
    set(THALWEG_HAVE_UTF8PROC ${utf8proc_FOUND})
endif()
if(NOT THALWEG_HAVE_UTF8PROC)
    thalweg_without(THALWEG_UTF8PROC utf8proc libutf8proc-dev
                    "names with characters beyond Latin are an error in classic files")
endif()

thalweg_stop_if_missing()

# A program starts on N ranks by "${MPIEXEC_EXECUTABLE} ${THALWEG_MPIEXEC_FLAGS} -n N". Open MPI
# needs flags to allow more ranks than cores, and root. It also starts in two thirds of the time if
# the flags name its message layer, as it then does not try others.
if(THALWEG_MPI AND NOT DEFINED THALWEG_MPIEXEC_FLAGS)
    execute_process(
        COMMAND ${MPIEXEC_EXECUTABLE} --version
        OUTPUT_VARIABLE thalweg_mpiexec_version
        ERROR_VARIABLE thalweg_mpiexec_version)
    set(thalweg_flags "")
    if(thalweg_mpiexec_version MATCHES "Open MPI|OpenRTE|Open RTE")
        set(thalweg_flags --oversubscribe --allow-run-as-root --mca mpi_yield_when_idle 1 --mca pml ob1
                          --bind-to none)
    endif()
    set(THALWEG_MPIEXEC_FLAGS "${thalweg_flags}" CACHE STRING "Flags of the MPI launcher in tests")
endif()
