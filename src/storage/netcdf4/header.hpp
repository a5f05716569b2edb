// The definitions of a netCDF-4 file, written by netCDF-C.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// Returns the name of the attribute that is a file's only record of quantization (netCDF-C,
/// nc_def_var_quantize).
const char* quantize_attribute(Packing::Quantize quantize);

/// Creates a file without data; an existing one is replaced.
/// @param kept   headers of earlier files, of which an equal one is used again; may be null
/// @param bytes  receives the size of the file
Status create_netcdf4(const std::string& path, const Definitions& definitions,
                      std::span<const ChunkGrid> grids, Format format, KeptHeaders* kept,
                      std::int64_t& bytes);

}  // namespace thalweg::detail
