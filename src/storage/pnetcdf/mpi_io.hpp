// MPI-IO without the implementations that are known to lose bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Turns off what makes Open MPI's own MPI-IO lose bytes, in the environment: for a program that
/// uses MPI-IO itself before the first file of storage=pnetcdf. Called by tw_init, as other threads
/// may read the environment later.
void prepare_mpi_io();

/// Chooses ROMIO where Open MPI's own MPI-IO is faulty, and MPI has not opened any file yet. The
/// user's own choice in the environment stands. Called before a file is opened by MPI-IO.
void choose_mpi_io();

/// Whether the MPI-IO of this process, which has a file open, writes what it is given. @return
/// TW_OK; TW_EUNSUPPORTED, telling what to set. Local
Status check_mpi_io(const std::string& path);

}  // namespace thalweg::detail
