// Prints which files were taken, and why others were not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/files.hpp"
#include "shim/shim.h"

namespace thalweg::netcdf {

/// Sets the shim, which says if this rank writes lines; and that a line is due at the end.
void begin_account(const thalweg_shim* shim);

/// Counts a file, and tells it on the first rank of its communicator if each file is to be told.
/// @param reason  why netCDF has it; empty: the engine has it
void account(const Call& call, const std::string& reason);

/// Writes the line of the whole process, on rank 0.
void end_account();

}  // namespace thalweg::netcdf
