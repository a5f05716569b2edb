# SPDX-License-Identifier: Apache-2.0
# netCDF-C built for parallel I/O, as the imported target NetcdfMpi::NetcdfMpi.
# Debian keeps it beside the serial build: libnetcdf_mpi, headers in netcdf/mpi/include.

pkg_search_module(netcdf_mpi QUIET netcdf-mpi netcdf)

find_library(NetcdfMpi_LIBRARY NAMES netcdf_mpi netcdf HINTS ${netcdf_mpi_LIBRARY_DIRS})
get_filename_component(netcdf_mpi_library_dir "${NetcdfMpi_LIBRARY}" DIRECTORY)
find_path(
    NetcdfMpi_INCLUDE_DIR netcdf_par.h
    HINTS "${netcdf_mpi_library_dir}/netcdf/mpi/include" ${netcdf_mpi_INCLUDE_DIRS}
    PATH_SUFFIXES netcdf/mpi/include NO_DEFAULT_PATH)
find_path(NetcdfMpi_INCLUDE_DIR netcdf_par.h)

include(FindPackageHandleStandardArgs)
set(NetcdfMpi_FIND_REQUIRED ON)
find_package_handle_standard_args(NetcdfMpi DEFAULT_MSG NetcdfMpi_LIBRARY NetcdfMpi_INCLUDE_DIR)
mark_as_advanced(NetcdfMpi_LIBRARY NetcdfMpi_INCLUDE_DIR)

if(NOT TARGET NetcdfMpi::NetcdfMpi)
    add_library(NetcdfMpi::NetcdfMpi INTERFACE IMPORTED)
    set_target_properties(
        NetcdfMpi::NetcdfMpi
        PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${NetcdfMpi_INCLUDE_DIR}"
                   INTERFACE_LINK_LIBRARIES "${NetcdfMpi_LIBRARY};MPI::MPI_C")
endif()
