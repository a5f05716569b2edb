// Defines files through netCDF-C, for the methods that use it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace thalweg::bench {

/// Throws if a netCDF-C call failed.
void check_nc(int status, const std::string& what);

/// Returns netCDF's create mode for "cdf1", "cdf2" or "cdf5".
int classic_create_mode(const std::string& format);

struct NetcdfIds {
    std::vector<std::vector<int>> group_dims;  ///< ids of dimensions for each group; the record
                                               ///< dimension comes first
    std::vector<int> variables;
};

/// Defines the dimensions and variables of a problem.
NetcdfIds define_netcdf(int file, const Problem& problem);

}  // namespace thalweg::bench
