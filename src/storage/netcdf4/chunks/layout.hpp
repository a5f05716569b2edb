// The layout of a netCDF-4 file: chunk grids, filters, and where the data are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "storage/netcdf4/chunks/chunk_store.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/placement/map.hpp"

namespace thalweg::detail {

struct Netcdf4Layout {
    ChunkLayout chunks;
    FileMap map;
    Netcdf4Map rooms;  ///< rooms for HDF5's index in a new file
    std::int64_t definitions_bytes = 0;

    /// Chooses the chunks of a new file.
    /// @param writers  number of ranks that write
    void choose(const Definitions& definitions, std::int64_t writers);
    /// Takes the layout of an existing file.
    void take(const Definitions& definitions, const Netcdf4Contents& contents);

    /// Converts an offset in the map to an address in the file.
    std::int64_t in_file(std::int64_t offset) const { return rooms.in_file(map, offset); }
    VariableStorage stored(const Variable& variable, std::size_t number) const;
    /// Appends the chunks of one record of all variables whose chunks have known addresses.
    void add_known(const Definitions& definitions, std::int64_t record,
                   std::vector<PlacedChunk>& to) const;
};

/// Chooses addresses for the unchunked variables of an existing file that were never written.
/// @param contents  contents of the file, in which the addresses are set
/// @return the numbers of these variables in `definitions`
std::vector<int> give_places(const Definitions& definitions, Netcdf4Contents& contents);

}  // namespace thalweg::detail
