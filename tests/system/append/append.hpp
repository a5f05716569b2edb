// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_APPEND_HPP
#define THALWEG_TESTS_SYSTEM_APPEND_HPP

#include <mpi.h>

#include <string>

#include "thalweg/thalweg.h"

/// Tests files that cannot be continued, definitions that differ, and what others see meanwhile:
/// code and text are the same on all ranks, and the file does not change.
void appended_calls(tw_session session, MPI_Comm comm, const std::string& folder);

/// Tests netCDF-4 files, as part of the former.
void appended_netcdf4();
/// Tests sets of tiles.
void appended_tiles();

#endif
