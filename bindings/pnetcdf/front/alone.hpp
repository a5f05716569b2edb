// PnetCDF's functions that concern no open file, for programs that have no PnetCDF.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "front/table.hpp"

namespace thalweg::pnetcdf::alone {

const char* ncmpi_strerror(int code);
const char* ncmpi_strerrno(int code);
const char* ncmpi_inq_libvers();
int ncmpi_delete(const char* path, MPI_Info info);
int ncmpi_inq_file_format(const char* path, int* format);
int ncmpi_set_default_format(int format, int* old);
int ncmpi_inq_default_format(int* format);
int ncmpi_inq_malloc_size(MPI_Offset* size);
int ncmpi_inq_malloc_max_size(MPI_Offset* size);
int ncmpi_inq_malloc_list();

/// Returns PnetCDF's code for a create or open call that the engine does not take, in a program
/// that has no PnetCDF. If PnetCDF could have taken the call, rank 0 prints that it is missing.
/// @note Collective over the communicator of the call
int refuse(const netcdf::Call& call);

}  // namespace thalweg::pnetcdf::alone
