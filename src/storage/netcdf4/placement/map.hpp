// The layout of a netCDF-4 file: that of a classic one, with room for HDF5's index in between.
//
//   | definitions | room | fixed-size variables | record 0 | ... | record G-1 | room | record G ...
//
// The places of unfiltered data are known beforehand, so writers need not ask for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/netcdf4/index/hdf5_file.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class Netcdf4Map {
public:
    Netcdf4Map() = default;
    /// @param packed  for each variable, 1 if its chunks are stored wherever there is space; 0 if
    ///                their addresses are known beforehand
    Netcdf4Map(const Definitions& definitions, std::span<const ChunkGrid> grids,
               std::span<const char> packed);

    /// Returns the address after the first range for the index, where the data begin.
    std::int64_t data_begin(std::int64_t definitions_bytes) const {
        return rounded(definitions_bytes, page) + first_room_;
    }
    /// Converts an offset in a FileMap to an address in the file.
    std::int64_t in_file(const FileMap& map, std::int64_t offset) const {
        if (map.record_begin == 0 || offset < map.record_begin) return offset;
        return offset + (offset - map.record_begin) / map.record_bytes / group_ * room_;
    }
    /// Returns the n-th range, counted from 0, of the file that is reserved for HDF5's index.
    Room room(const FileMap& map, std::int64_t definitions_bytes, std::int64_t n) const;

private:
    std::int64_t first_room_ = 0;  ///< size in bytes of the first range for the index
    std::int64_t group_ = 1;       ///< number of records between two ranges for the index
    std::int64_t room_ = 0;        ///< size in bytes of each further range for the index
};

/// Returns the map that divides the data into spaces and shares. Offsets of packed variables serve
/// only this purpose and are not addresses in the file.
/// @param packed     see Netcdf4Map; in an existing file, all variables with chunks are packed
/// @param begin      address from which on data are placed
/// @param addresses  addresses of the variables without chunks in an existing file; empty for a new
///                   file
FileMap file_map(const Definitions& definitions, std::span<const ChunkGrid> grids,
                 std::span<const char> packed, std::int64_t begin,
                 std::span<const std::int64_t> addresses = {});

}  // namespace thalweg::detail
