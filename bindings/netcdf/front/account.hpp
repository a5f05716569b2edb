// Prints which files were taken, and why others were not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/files.hpp"
#include "shim/shim.h"

namespace thalweg::netcdf {

/// Begins the account, which prints a line when the process ends.
/// @param shim  decides if this rank prints
void begin_account(const thalweg_shim* shim);

/// Counts a file. If each file is to be reported, prints a line on the first rank of its
/// communicator.
/// @param reason  why netCDF writes it; empty: the engine does
void account(const Call& call, const std::string& reason);

/// Writes the line of the whole process, on rank 0.
void end_account();

}  // namespace thalweg::netcdf
