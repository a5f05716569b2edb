// Counts the files that the engine takes, and those that it leaves to the program's library, by
// reason.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/files.hpp"
#include "shim/shim.h"

namespace thalweg::netcdf {

/// Begins to count files. A line with the result is printed when the process ends.
/// @param shim  decides if this rank prints
void begin_account(const thalweg_shim* shim);

/// Counts a file. If the user wants a line for each file, the first rank of its communicator prints
/// it.
/// @param reason reason why the program's own library has the file; empty: the engine has it
/// @param library name of the program's library
void account(const Call& call, const std::string& reason, const char* library = "netCDF-C");

/// Prints the line with the counts of the whole process, on rank 0.
void end_account();

}  // namespace thalweg::netcdf
