# SPDX-License-Identifier: Apache-2.0
# Finds netCDF-C and HDF5 and makes one target of both, thalweg_netcdf4. THALWEG_HAVE_NETCDF4 is ON
# if they were found. The library does not use their parallel calls, so serial builds suffice. A
# parallel build for the same MPI is preferred: models that call netCDF use that build, and a
# process must have only one HDF5. THALWEG_NETCDF_PARALLEL is ON if the build is parallel.

# thalweg_try_netcdf(result prefix netcdf-modules hdf5-modules): tries one pair of builds.
function(thalweg_try_netcdf result prefix netcdf_modules hdf5_modules)
    set(${result} OFF PARENT_SCOPE)
    pkg_search_module(${prefix} QUIET ${netcdf_modules})
    pkg_search_module(${prefix}_hdf5 QUIET ${hdf5_modules})
    if(NOT ${prefix}_FOUND)
        return()
    endif()
    find_library(${prefix}_library NAMES ${${prefix}_LIBRARIES} HINTS ${${prefix}_LIBRARY_DIRS})
    set(hdf5_includes ${${prefix}_hdf5_INCLUDE_DIRS})
    if(${prefix}_hdf5_FOUND)
        find_library(${prefix}_hdf5_library NAMES ${${prefix}_hdf5_LIBRARIES} hdf5
                     HINTS ${${prefix}_hdf5_LIBRARY_DIRS})
        set(hdf5_library "${${prefix}_hdf5_library}")
    else() # HDF5 before 1.14, or not built by CMake, has no pkg-config file
        find_package(HDF5 QUIET COMPONENTS C)
        set(hdf5_library "${HDF5_C_LIBRARIES}")
        set(hdf5_includes "${HDF5_C_INCLUDE_DIRS}")
    endif()
    if(NOT ${prefix}_library OR NOT hdf5_library)
        return()
    endif()
    # Two different builds of HDF5 in one process do not work.
    thalweg_needed("${${prefix}_library}" needed)
    list(FILTER needed INCLUDE REGEX "^libhdf5(_[a-gi-z][a-z]*)?[.]so") # not libhdf5_hl
    list(GET hdf5_library 0 hdf5_real)
    get_filename_component(hdf5_real "${hdf5_real}" REALPATH)
    if(needed AND NOT hdf5_real MATCHES "/(${needed})")
        message(STATUS "not taken: ${${prefix}_library}, because the HDF5 found is not its own "
                       "${needed}, but ${hdf5_real}")
        return()
    endif()
    thalweg_foreign_mpi(foreign "${${prefix}_library}" ${hdf5_library})
    if(foreign)
        message(STATUS "not taken: ${${prefix}_library}, built with another MPI (${foreign})")
        return()
    endif()
    # Debian keeps netcdf_par.h beside the library; other systems keep it beside netcdf.h.
    get_filename_component(folder "${${prefix}_library}" DIRECTORY)
    find_path(${prefix}_par netcdf_par.h
              HINTS "${folder}/netcdf/mpi/include" ${${prefix}_INCLUDE_DIRS} NO_DEFAULT_PATH)
    find_path(${prefix}_par netcdf_par.h)
    mark_as_advanced(${prefix}_library ${prefix}_hdf5_library ${prefix}_par)
    add_library(thalweg_netcdf4 INTERFACE IMPORTED GLOBAL)
    target_include_directories(thalweg_netcdf4 INTERFACE ${${prefix}_INCLUDE_DIRS} ${hdf5_includes})
    target_link_libraries(thalweg_netcdf4 INTERFACE "${${prefix}_library}" ${hdf5_library})
    set(thalweg_netcdf_includes ${${prefix}_INCLUDE_DIRS} PARENT_SCOPE)
    set(thalweg_netcdf_found "${${prefix}_library} ${${prefix}_VERSION}" PARENT_SCOPE)
    thalweg_needed("${hdf5_library}" names)
    if(${prefix}_par AND names MATCHES "(^|;)libmpi")
        target_include_directories(thalweg_netcdf4 INTERFACE "${${prefix}_par}")
        target_link_libraries(thalweg_netcdf4 INTERFACE MPI::MPI_C)
        set(THALWEG_NETCDF_PARALLEL ON PARENT_SCOPE)
    endif()
    set(${result} ON PARENT_SCOPE)
endfunction()

thalweg_optional(THALWEG_NETCDF4 "netCDF-C and HDF5")
option(THALWEG_NETCDF_SERIAL "Take serial builds of netCDF-C and HDF5, also where there are parallel ones" OFF)
set(THALWEG_HAVE_NETCDF4 OFF)
set(THALWEG_NETCDF_PARALLEL OFF)
if(NOT THALWEG_NETCDF4 STREQUAL "OFF")
    if(NOT THALWEG_NETCDF_SERIAL)
        thalweg_try_netcdf(THALWEG_HAVE_NETCDF4 thalweg_nc_mpi "netcdf-mpi"
                           "hdf5-mpi;hdf5-openmpi;hdf5-mpich;hdf5")
    endif()
    if(NOT THALWEG_HAVE_NETCDF4)
        thalweg_try_netcdf(THALWEG_HAVE_NETCDF4 thalweg_nc "netcdf" "hdf5-serial;hdf5")
    endif()
endif()

if(THALWEG_HAVE_NETCDF4)
    message(STATUS "netCDF-4: ${thalweg_netcdf_found}, parallel: ${THALWEG_NETCDF_PARALLEL}")
else()
    thalweg_without(THALWEG_NETCDF4 "netCDF-C and HDF5" "libnetcdf-dev libhdf5-dev"
                    "netCDF-4 files are neither written nor read, and there is no interface of PIO")
endif()
