// The contents of a file that is to be opened, as netCDF-C reports them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::netcdf::engine {

// Returns the reason why the engine cannot open a file; empty if it can, and also if netCDF-C
// cannot open the file as netCDF-4. Called on one rank.
// @param unfilled  receives a character for each variable of a netCDF-4 file: 1 if it has no fill
//                  value
std::string beyond_engine(const std::string& path, std::string& unfilled);

// Completes the file that a killed run left, if there is no file of this name. Called on one rank.
void recover_killed(const std::string& path);

}  // namespace thalweg::netcdf::engine
