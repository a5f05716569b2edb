// Avoids implementations of MPI-IO that are known to lose bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Sets environment variables that avoid the loss of bytes in Open MPI's own MPI-IO. This protects
/// programs that use MPI-IO themselves before they create a file with storage=pnetcdf. Called by
/// tw_init, because later other threads may read the environment.
void prepare_mpi_io();

/// Chooses ROMIO if Open MPI's own MPI-IO is faulty and MPI has not opened any file yet, unless the
/// user has made a choice in the environment. Must be called before a file is opened by MPI-IO.
void choose_mpi_io();

/// Checks that the MPI-IO of this process, which has a file open, does not lose bytes. Local.
/// @return TW_OK; TW_EUNSUPPORTED, with the setting to change
Status check_mpi_io(const std::string& path);

}  // namespace thalweg::detail
