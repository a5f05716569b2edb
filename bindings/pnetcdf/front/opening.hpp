// Functions of PnetCDF that create, open and close files, and those that concern several files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace thalweg::pnetcdf::opening {

/// @note The two following functions are collective over the communicator.
int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id);
int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id);
/// @note The two following functions are collective over the communicator of the file.
int ncmpi_close(int id);
int ncmpi_abort(int id);
int ncmpi_inq_files_opened(int* count, int* ids);
int ncmpi_copy_att(int id, int variable, const char* name, int to, int to_variable);

/// Prints which files are incomplete, if the process exits without MPI_Finalize.
void tell_unclosed_files();

/// Takes over the files that the real PnetCDF has open.
void adopt_open_files();

}  // namespace thalweg::pnetcdf::opening
