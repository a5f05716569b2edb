// Functions of PnetCDF that make and end files, and those that concern several or none.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace thalweg::pnetcdf::opening {

/// @note create and open are collective over the communicator
int create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id);
int open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id);
/// @note close and abort are collective over the file's communicator
int close(int id);
int abort(int id);
int inq_files_opened(int* count, int* ids);
int copy_att(int id, int variable, const char* name, int to, int to_variable);

/// Prints which files are incomplete, if the process exits without MPI_Finalize.
void tell_unclosed_files();

/// Takes over the files that the real PnetCDF has open.
void adopt_open_files();

}  // namespace thalweg::pnetcdf::opening
