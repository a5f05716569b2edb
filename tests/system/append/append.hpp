// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_APPEND_HPP
#define THALWEG_TESTS_SYSTEM_APPEND_HPP

#include <mpi.h>

#include <string>

#include "thalweg/thalweg.h"

/// Files that cannot be written on, definitions that differ, what others see meanwhile: code and
/// text, the same on all ranks, and the file as it was.
void appended_calls(tw_session session, MPI_Comm comm, const std::string& folder);

/// Of netCDF-4 files, within the former.
void appended_netcdf4();
/// Of sets of tiles.
void appended_tiles();

#endif
