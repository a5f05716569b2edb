// The definitions of a netCDF-4 file, written by netCDF-C.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "storage/netcdf4/chunk_grid.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Creates a file without data; an existing one is replaced.
Status create_netcdf4(const std::string& path, const Definitions& definitions,
                      std::span<const ChunkGrid> grids, Format format);

/// Adds attributes to a complete file, by way of netCDF-C.
Status add_netcdf4_attributes(const std::string& path, const Definitions& definitions,
                              Format format, const std::vector<std::pair<int, Attribute>>& late);

}  // namespace thalweg::detail
