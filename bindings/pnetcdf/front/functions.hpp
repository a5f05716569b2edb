// PnetCDF's functions that do not belong to one open file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pnetcdf.h>

#include "front/table.hpp"

namespace thalweg::pnetcdf::opening {

// Functions that create, open and close files, and those that concern several files.
/// @note ncmpi_create, ncmpi_open, ncmpi_close and ncmpi_abort are collective over the communicator
/// of the file
#define PLAIN(...)
#define OPENING(name, ...) decltype(::name) name;
#define FILES(name, ...) decltype(::name) name;
#define OF_FILE(...)
#define DATA(...)
#include "pnetcdf_names.inc"

/// Prints which files are incomplete, if the process exits without MPI_Finalize.
void tell_unclosed_files();

/// Takes over the files that the real PnetCDF has open.
void adopt_open_files();

}  // namespace thalweg::pnetcdf::opening

namespace thalweg::pnetcdf::alone {

// Functions that concern no open file, for programs that have no PnetCDF.
#define PLAIN(name, ...) decltype(::name) name;
#define OPENING(...)
#define FILES(...)
#define OF_FILE(...)
#define DATA(...)
#include "pnetcdf_names.inc"

/// Returns PnetCDF's code for a create or open call that the engine does not take, in a program
/// that has no PnetCDF. If PnetCDF could have taken the call, rank 0 prints that it is missing.
/// @note Collective over the communicator of the call
int refuse(const netcdf::Call& call);

}  // namespace thalweg::pnetcdf::alone
