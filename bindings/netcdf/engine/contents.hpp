// The contents of a file that is to be opened, as netCDF-C reports them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::netcdf::engine {

// Returns the reason why the engine cannot open a file; empty if it can, or if the file is no
// netCDF-4 file that netCDF-C opens. On one rank.
std::string beyond_engine(const std::string& path);

// Completes what a killed run left, if there is no file of the name. On one rank.
void recover_killed(const std::string& path);

}  // namespace thalweg::netcdf::engine
