// The source of netCDF-4 files: chunks are read as they lie in the file, and unpacked by whoever
// reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// See open_source.
std::unique_ptr<Source> open_netcdf4_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status);

}  // namespace thalweg::detail
