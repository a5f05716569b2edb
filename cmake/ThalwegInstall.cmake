# SPDX-License-Identifier: Apache-2.0
# Installs the libraries, headers and programs, and the files by which other projects find them.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/thalweg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
# Builds all that is installed, but no tests.
add_custom_target(thalweg_installed DEPENDS thalweg thalweg_history)
install(TARGETS thalweg thalweg_history EXPORT thalwegTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

if(TARGET thalweg_cfio)
    add_dependencies(thalweg_installed thalweg_cfio)
    install(TARGETS thalweg_cfio EXPORT thalwegTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/bindings/cfio/cfio.h
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET thalweg_pio)
    add_dependencies(thalweg_installed thalweg_pio)
    install(TARGETS thalweg_pio EXPORT thalwegTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/bindings/pio/pio.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET thalweg_shim) # no program is built against these, so find_package does not need them
    add_dependencies(thalweg_installed thalweg_shim thalweg_fronts)
    install(TARGETS thalweg_shim thalweg_fronts LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET thalweg_pnetcdf)
    add_dependencies(thalweg_installed thalweg_pnetcdf)
    install(TARGETS thalweg_pnetcdf thalweg_pnetcdf_first EXPORT thalwegTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(thalweg_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/thalweg")
install(EXPORT thalwegTargets NAMESPACE thalweg:: DESTINATION ${thalweg_package_dir})

if(TARGET thalweg_fortran)
    add_dependencies(thalweg_installed thalweg_fortran)
    install(TARGETS thalweg_fortran EXPORT thalwegFortranTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    if(TARGET thalweg_cfio_fortran)
        add_dependencies(thalweg_installed thalweg_cfio_fortran)
        install(TARGETS thalweg_cfio_fortran EXPORT thalwegFortranTargets
                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
    install(DIRECTORY ${PROJECT_BINARY_DIR}/modules/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
            FILES_MATCHING PATTERN "thalweg*.mod" PATTERN "cfio.mod" PATTERN "pio*.mod")
    if(TARGET thalweg_piof)
        add_dependencies(thalweg_installed thalweg_piof)
        install(TARGETS thalweg_piof EXPORT thalwegFortranTargets
                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
    install(EXPORT thalwegFortranTargets NAMESPACE thalweg:: DESTINATION ${thalweg_package_dir})
endif()
if(TARGET thalweg-app)
    add_dependencies(thalweg_installed thalweg-app)
    install(TARGETS thalweg-app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(thalweg_mpi_names "") # sonames of the MPI with which users have to link
foreach(library IN LISTS MPI_C_LIBRARIES)
    get_filename_component(library "${library}" REALPATH)
    get_filename_component(library "${library}" NAME)
    if(library MATCHES "^(libmpi[A-Za-z_]*\\.so\\.[0-9]+)")
        list(APPEND thalweg_mpi_names "${CMAKE_MATCH_1}")
    endif()
endforeach()
configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/thalwegConfig.cmake.in ${PROJECT_BINARY_DIR}/thalwegConfig.cmake
    INSTALL_DESTINATION ${thalweg_package_dir})
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/thalwegConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/thalwegCompatible.cmake
              ${PROJECT_BINARY_DIR}/thalwegConfig.cmake
              ${PROJECT_BINARY_DIR}/thalwegConfigVersion.cmake DESTINATION ${thalweg_package_dir})

# The files of pkg-config. Their paths are relative to the file, so that the installed tree can be
# moved. The MPI compiler wrappers (mpicc, mpifort) bring MPI's own flags. With -rpath, programs
# find the libraries at run time where they were at link time.
file(RELATIVE_PATH thalweg_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" thalweg_pc_prefix "${thalweg_pc_prefix}")
set(thalweg_pc_netcdf_includes "") # for thalweg-pio, as pio.h includes netcdf.h
foreach(folder IN LISTS thalweg_netcdf_includes)
    string(APPEND thalweg_pc_netcdf_includes " -I${folder}")
endforeach()
set(thalweg_pc_definitions "-DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1")
if(NOT THALWEG_MPI)
    set(thalweg_pc_definitions "-DTHALWEG_SERIAL=1")
endif()
set(thalweg_pc_files thalweg thalweg-history)
if(TARGET thalweg_cfio)
    list(APPEND thalweg_pc_files thalweg-cfio)
endif()
if(TARGET thalweg_pio)
    list(APPEND thalweg_pc_files thalweg-pio)
endif()
if(TARGET thalweg_shim)
    list(APPEND thalweg_pc_files thalweg-netcdf)
endif()
if(TARGET thalweg_pnetcdf)
    list(APPEND thalweg_pc_files thalweg-pnetcdf)
endif()
if(TARGET thalweg_fortran)
    list(APPEND thalweg_pc_files thalweg-fortran)
endif()
if(TARGET thalweg_cfio_fortran)
    list(APPEND thalweg_pc_files thalweg-cfio-fortran)
endif()
if(TARGET thalweg_piof)
    list(APPEND thalweg_pc_files thalweg-pio-fortran)
endif()
foreach(name IN LISTS thalweg_pc_files)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# A module file for Environment Modules: module use PREFIX/share/modulefiles.
install(FILES ${PROJECT_SOURCE_DIR}/packaging/modules/thalweg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/thalweg RENAME ${PROJECT_VERSION})
