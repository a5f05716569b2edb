// Where things lie in a netCDF-4 file: as in a classic one, with room for HDF5's index in between.
//
//   | definitions | room | fixed-size variables | record 0 | ... | record G-1 | room | record G ...
//
// Unfiltered data have their places before anybody writes, so writers need not ask for them.
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
    /// @param packed  of each variable: it is written in whole chunks, which go where there is room
    Netcdf4Map(const Definitions& definitions, std::span<const ChunkGrid> grids,
               std::span<const char> packed);

    /// The places as spaces want them; offsets of packed variables have a meaning for shares alone.
    FileMap file_map(const Definitions& definitions, std::span<const ChunkGrid> grids,
                     std::span<const char> packed, std::int64_t definitions_bytes) const;
    /// Byte of the file for a byte in a FileMap.
    std::int64_t in_file(const FileMap& map, std::int64_t offset) const {
        if (map.record_begin == 0 || offset < map.record_begin) return offset;
        return offset + (offset - map.record_begin) / map.record_bytes / group_ * room_;
    }
    /// The n-th room for the index, from 0.
    Room room(const FileMap& map, std::int64_t definitions_bytes, std::int64_t n) const;

private:
    std::int64_t first_room_ = 0;  ///< bytes
    std::int64_t group_ = 1;       ///< records between two rooms
    std::int64_t room_ = 0;        ///< bytes of the others
};

/// The places in a file that is there, as spaces want them: ranges lie where they do, and what has
/// chunks comes after them, which has a meaning for shares alone.
/// @param addresses  of the variables without chunks
FileMap existing_map(const Definitions& definitions, std::span<const ChunkGrid> grids,
                     std::span<const std::int64_t> addresses);

}  // namespace thalweg::detail
