// Packed chunks in memory that have no place in the file yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "storage/netcdf4/index.hpp"

namespace thalweg::detail {

/// Chunks that are adjacent in the file, from byte `at` on; their addresses are relative to it.
struct ChunkLot {
    std::vector<char> bytes;
    std::vector<PlacedChunk> chunks;
    std::int64_t at = -1;  ///< -1: unknown
    bool asked = false;    ///< room was requested: no chunk is added any more
};

/// A queue of chunks without a place; they get places in the order of the requests. Any thread may
/// call its functions.
class UnplacedChunks {
public:
    /// Divisor of the distance between two places, in bytes.
    static constexpr std::int64_t alignment = 8;

    /// @param most  bytes at which a lot takes no more chunks
    explicit UnplacedChunks(std::int64_t most) : most_(most) {}

    void add(PlacedChunk chunk, const char* data);
    /// Returns the bytes for which no room was requested.
    std::int64_t bytes() const;
    /// Returns the bytes that these chunks need, and marks them as requested.
    std::int64_t ask();
    /// Places the chunks for which room was requested. @param at  first byte of the room
    void place(std::int64_t at);
    /// Takes the first lot, if it has a place. @return false: there is none
    bool take(ChunkLot& lot);
    /// Gives the memory of a lot back for reuse.
    void give_back(ChunkLot&& lot);
    /// Finds the latest version of a chunk. @param data  may be null
    /// @return false: the chunk is not in the queue
    bool find(const PlacedChunk& chunk, std::vector<char>* data) const;

private:
    /// The variable, record and number of a chunk.
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    struct Where {
        std::int64_t lot;
        std::size_t at;  ///< position in the lot's chunks
    };
    static Key key_of(const PlacedChunk& c) { return {c.variable, c.record, c.number}; }

    const std::int64_t most_;
    mutable std::mutex lock_;
    std::deque<ChunkLot> lots_;
    std::int64_t taken_ = 0;       ///< lots taken so far: the number of the first one here
    std::map<Key, Where> latest_;  ///< places of the chunks' latest versions
    std::vector<ChunkLot> spare_;  ///< memory to use again
    std::int64_t bytes_ = 0;       ///< bytes for which no room was requested
};

}  // namespace thalweg::detail
