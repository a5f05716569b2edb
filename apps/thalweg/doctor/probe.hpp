// Facts about a netCDF library that decide if the shim can take its files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct NetcdfFacts {
    std::string version;  ///< version of netCDF-C; empty if the library could not be loaded
    int slot = 0;  ///< mode bit under which a dispatch table can be registered; 0: there is none
    int table_version = 0;
};

/// Finds facts about a netCDF library by loading it in a child process.
NetcdfFacts probe_netcdf(const std::string& path);

}  // namespace thalweg::app
