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

/// Chunks that lie side by side in the file, from `at` on; their addresses are relative to it.
struct ChunkLot {
    std::vector<char> bytes;
    std::vector<PlacedChunk> chunks;
    std::int64_t at = -1;  ///< -1: not known yet
    bool asked = false;    ///< room was asked for: nothing is added any more
};

/// Places are given in the order in which they were asked for. Any thread.
class UnplacedChunks {
public:
    /// Places are multiples of it, counted from the first one.
    static constexpr std::int64_t alignment = 8;

    /// @param most  bytes of a lot, from which on it takes no more chunks
    explicit UnplacedChunks(std::int64_t most) : most_(most) {}

    void add(PlacedChunk chunk, const char* data);
    /// Bytes for which no room was asked.
    std::int64_t bytes() const;
    /// The room that they need; from now on it was asked for.
    std::int64_t ask();
    /// What was asked for and has no place yet lies there.
    void place(std::int64_t at);
    /// The first lot, if it has a place. @return false: there is none
    bool take(ChunkLot& lot);
    /// Memory that can be used again.
    void give_back(ChunkLot&& lot);
    /// The latest version of a chunk, if it is here. @param data  may be null
    bool find(const PlacedChunk& chunk, std::vector<char>* data) const;

private:
    /// Variable, record, number.
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    struct Where {
        std::int64_t lot;
        std::size_t at;  ///< of its chunks
    };
    static Key key_of(const PlacedChunk& c) { return {c.variable, c.record, c.number}; }

    const std::int64_t most_;
    mutable std::mutex lock_;
    std::deque<ChunkLot> lots_;
    std::int64_t taken_ = 0;       ///< lots so far; the first one here has this number
    std::map<Key, Where> latest_;  ///< of the chunks that are here
    std::vector<ChunkLot> spare_;  ///< memory that is used again
    std::int64_t bytes_ = 0;       ///< without those that were asked for
};

}  // namespace thalweg::detail
