// The source of netCDF-4 files: the ranks that read chunks also unpack them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/// Opens a netCDF-4 file; see open_source().
std::unique_ptr<Source> open_netcdf4_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status);

}  // namespace thalweg::detail
