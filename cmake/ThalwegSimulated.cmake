# SPDX-License-Identifier: Apache-2.0
# SimGrid's SMPI takes the place of MPI: all ranks are contexts of one process, and time is
# simulated.
find_path(SIMGRID_INCLUDE_DIR smpi/smpi_helpers.h)
find_library(SIMGRID_LIBRARY simgrid)
find_program(SMPIRUN smpirun)
if(NOT SIMGRID_INCLUDE_DIR OR NOT SIMGRID_LIBRARY OR NOT SMPIRUN)
    thalweg_missing(SimGrid libsimgrid-dev "simulations")
endif()

add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE ${SIMGRID_INCLUDE_DIR} ${SIMGRID_INCLUDE_DIR}/smpi)
target_link_libraries(MPI::MPI_C INTERFACE ${SIMGRID_LIBRARY})
# As with smpicxx, clocks and sleeps are simulated. Memory is not: SMPI's macros for malloc and free
# would break classes that have members of these names.
target_compile_definitions(MPI::MPI_C INTERFACE SMPI_NO_OVERRIDE_MALLOC THALWEG_SIMULATED)
target_compile_options(MPI::MPI_C INTERFACE "SHELL:-include smpi/smpi_helpers.h" -fno-gnu-unique)
set(MPI_FOUND ON)
set(MPI_C_LIBRARIES ${SIMGRID_LIBRARY})
set(MPIEXEC_EXECUTABLE ${SMPIRUN})
set(MPIEXEC_NUMPROC_FLAG -np)
set(THALWEG_MPIEXEC_FLAGS "" CACHE STRING "Flags of the MPI launcher in tests")
