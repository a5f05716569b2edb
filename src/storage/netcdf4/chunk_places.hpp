// The places of chunks in a file, so that they can be read again without HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "storage/netcdf4/index.hpp"

namespace thalweg::detail {

/// The addresses of the chunks in the file. Each entry takes 16 bytes.
class ChunkPlaces {
public:
    explicit ChunkPlaces(std::span<const ChunkGrid> grids) : grids_(grids) {}

    void add(const PlacedChunk& c) {
        auto& chunks = chunks_[{c.variable, c.record}];
        if (chunks.empty()) chunks.resize(grids_[c.variable].chunks());
        chunks[c.number] = {c.address, static_cast<std::uint32_t>(c.bytes), c.skipped};
    }

    /// Finds the address and size of a chunk. @return false: the chunk is not in the table
    bool find(PlacedChunk& c) const {
        const auto chunks = chunks_.find({c.variable, c.record});
        if (chunks == chunks_.end()) return false;
        const Place& p = chunks->second[c.number];
        c.address = p.address;
        c.bytes = p.bytes;
        c.skipped = p.skipped;
        return p.bytes > 0;
    }

private:
    struct Place {
        std::int64_t address = 0;
        std::uint32_t bytes = 0;  ///< HDF5 limits a chunk to 4 GiB
        std::uint32_t skipped = 0;
    };
    std::span<const ChunkGrid> grids_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Place>> chunks_;
};

}  // namespace thalweg::detail
