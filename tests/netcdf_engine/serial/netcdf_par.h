/* The names of netCDF's parallel interface, which serial builds export, too, without this header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <mpi.h>

#define NC_INDEPENDENT 0
#define NC_COLLECTIVE 1

int nc_create_par(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* id);
int nc_open_par(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* id);
int nc_var_par_access(int id, int variable, int access);
