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

/// Chunks that will be adjacent in the file. Their addresses are relative to `at`, the address of
/// the first.
struct ChunkLot {
    std::vector<char> bytes;
    std::vector<PlacedChunk> chunks;
    std::int64_t at = -1;  ///< -1: unknown
    bool asked = false;    ///< room was requested: no more chunks are added
};

/// A queue of chunks that have no place in the file yet. They get places in the order of the
/// requests. Any thread may call its functions.
class UnplacedChunks {
public:
    /// Chunks are placed at multiples of so many bytes.
    static constexpr std::int64_t alignment = 8;

    /// @param most  bytes at which a lot is full
    explicit UnplacedChunks(std::int64_t most) : most_(most) {}

    void add(PlacedChunk chunk, const char* data);
    /// Returns the bytes of the chunks for which no room was requested.
    std::int64_t bytes() const;
    /// Returns the bytes of these chunks, and marks them as requested.
    std::int64_t ask();
    /// Assigns places to the chunks for which room was requested. @param at  address of the room
    void place(std::int64_t at);
    /// Takes the first lot, if it has a place. @return false: there is none
    bool take(ChunkLot& lot);
    /// Gives the memory of a lot back for reuse.
    void give_back(ChunkLot&& lot);
    /// Finds the latest version of a chunk.
    /// @param data  receives its bytes; may be null
    /// @return false: the chunk is not in the queue
    bool find(const PlacedChunk& chunk, std::vector<char>* data) const;

private:
    /// The variable, record and number of a chunk.
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    struct Where {
        std::int64_t lot;
        std::size_t at;  ///< index among the lot's chunks
    };
    static Key key_of(const PlacedChunk& c) { return {c.variable, c.record, c.number}; }

    const std::int64_t most_;
    mutable std::mutex lock_;
    std::deque<ChunkLot> lots_;
    /// Number of lots taken so far. This is also the number of the first lot in the queue.
    std::int64_t taken_ = 0;
    std::map<Key, Where> latest_;  ///< place of the latest version of each chunk
    std::vector<ChunkLot> spare_;  ///< memory to use again
    std::int64_t bytes_ = 0;       ///< bytes for which no room was requested
};

}  // namespace thalweg::detail
