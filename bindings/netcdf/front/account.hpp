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

/// Counts a file, and tells it on the first rank of its communicator if each file is to be told.
/// @param reason  why the library has it; empty: the engine has it
/// @param library  name of the program's library
void account(const Call& call, const std::string& reason, const char* library = "netCDF-C");

/// Writes the line of the whole process, on rank 0.
void end_account();

}  // namespace thalweg::netcdf
