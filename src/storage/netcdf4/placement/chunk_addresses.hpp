// The addresses of chunks in a file, so that they can be read again without HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "storage/netcdf4/index/index.hpp"

namespace thalweg::detail {

/// The addresses of the latest versions of chunks. Each entry takes 16 bytes; those of neighbouring
/// records lie together, because a table for each record would need several times as much.
class ChunkAddresses {
public:
    explicit ChunkAddresses(std::span<const ChunkGrid> grids) : grids_(grids) {}

    void add(const PlacedChunk& c) {
        const Cell cell = cell_of(c);
        auto& chunks = chunks_[{c.variable, cell.table}];
        if (chunks.empty()) chunks.resize(cell.size);
        chunks[cell.at] = {c.address, static_cast<std::uint32_t>(c.bytes), c.skipped};
    }

    /// Finds the address and size of a chunk. @return false: the chunk is not in the table
    bool find(PlacedChunk& c) const {
        const Cell cell = cell_of(c);
        const auto chunks = chunks_.find({c.variable, cell.table});
        if (chunks == chunks_.end()) return false;
        const Address& p = chunks->second[cell.at];
        c.address = p.address;
        c.bytes = p.bytes;
        c.skipped = p.skipped;
        return p.bytes > 0;
    }

private:
    struct Address {
        std::int64_t address = 0;
        std::uint32_t bytes = 0;  ///< HDF5 limits a chunk to 4 GiB
        std::uint32_t skipped = 0;
    };
    /// The position of a chunk: the number of its table, and its place among `size` in that table.
    struct Cell {
        std::int64_t table, at, size;
    };
    Cell cell_of(const PlacedChunk& c) const {
        constexpr std::int64_t least = 64;  // entries of a table
        const ChunkGrid& grid = grids_[c.variable];
        const std::int64_t chunks = grid.chunks(),
                           bands = std::max<std::int64_t>(1, least / chunks);
        const std::int64_t band = c.record / std::max<std::int64_t>(1, grid.records);
        return {band / bands, band % bands * chunks + c.number, bands * chunks};
    }

    std::span<const ChunkGrid> grids_;
    /// Tables by variable and number.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Address>> chunks_;
};

}  // namespace thalweg::detail
