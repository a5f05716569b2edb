# SPDX-License-Identifier: Apache-2.0
# THALWEG_MPI=OFF: a header for one process takes the place of MPI. Only sources of this project see
# it. The public headers need no MPI, and a program may have its own stand-in.
add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE ${PROJECT_SOURCE_DIR}/src/comm/serial)
target_compile_definitions(MPI::MPI_C INTERFACE THALWEG_SERIAL=1)
set(MPI_FOUND ON)
set(MPI_C_LIBRARIES "")
set(THALWEG_MPI_F08 OFF)
