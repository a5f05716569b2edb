// The layout of a netCDF-4 file: that of a classic one, with room for HDF5's index in between.
//
//   | definitions | room | fixed-size variables | record 0 | ... | record G-1 | room | record G ...
//
// The places of unfiltered data are known beforehand, so writers need not ask for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/netcdf4/hdf5_file.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

class Netcdf4Map {
public:
    Netcdf4Map() = default;
    /// @param packed  for each variable, 1: it is written in whole chunks, placed where there is
    /// room
    Netcdf4Map(const Definitions& definitions, std::span<const ChunkGrid> grids,
               std::span<const char> packed);

    /// Returns the map by which the data are divided into spaces and shares. Offsets of packed
    /// variables serve only this purpose.
    FileMap file_map(const Definitions& definitions, std::span<const ChunkGrid> grids,
                     std::span<const char> packed, std::int64_t definitions_bytes) const;
    /// Converts an offset in a FileMap to a byte of the file.
    std::int64_t in_file(const FileMap& map, std::int64_t offset) const {
        if (map.record_begin == 0 || offset < map.record_begin) return offset;
        return offset + (offset - map.record_begin) / map.record_bytes / group_ * room_;
    }
    /// Returns the n-th range, from 0, that is reserved for the index.
    Room room(const FileMap& map, std::int64_t definitions_bytes, std::int64_t n) const;

private:
    std::int64_t first_room_ = 0;  ///< bytes of the first range for the index
    std::int64_t group_ = 1;       ///< number of records between two ranges for the index
    std::int64_t room_ = 0;        ///< bytes of each further range
};

/// Returns the map of an existing file. Variables without chunks have their actual offsets. Chunked
/// ones follow, with offsets that serve only to divide the data into spaces and shares.
/// @param addresses  of each variable; ignored for chunked ones
FileMap existing_map(const Definitions& definitions, std::span<const ChunkGrid> grids,
                     std::span<const std::int64_t> addresses);

}  // namespace thalweg::detail
