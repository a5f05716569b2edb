// Packed chunks in memory that have no place in the file yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "storage/netcdf4/index/index.hpp"

namespace thalweg::detail {

/// Chunks that will be adjacent in the file and are written by one call. Their addresses are
/// relative to `at`, the address of the first chunk; negative ones are of chunks that follow().
struct ChunkLot {
    std::int64_t begin = 0;  ///< position of the first byte among all bytes that were ever added
    std::vector<char> bytes;
    std::vector<PlacedChunk> chunks;
    std::int64_t at = -1;  ///< -1 until space is allocated
    bool asked = false;    ///< space was requested, so no more chunks are added
};

/// A queue of chunks that have no address yet. Chunks get addresses in the order of the requests
/// for space. All functions may be called by any thread.
class UnplacedChunks {
public:
    /// Chunks begin at multiples of this number of bytes.
    static constexpr std::int64_t alignment = 8;

    /// @param most  size in bytes from which on a lot is full
    explicit UnplacedChunks(std::int64_t most) : most_(most) {}

    /// Adds a chunk, and returns the position of its first byte among all bytes that were ever
    /// added.
    std::int64_t add(PlacedChunk chunk, const char* data);
    /// Adds a chunk that is in the file, behind those that wait.
    /// @param chunk  its address is negative
    /// @return false if none waits, and it was not added
    bool follow(const PlacedChunk& chunk);
    /// Returns the size in bytes of the chunks for which no space was requested.
    std::int64_t bytes() const;
    /// Marks the space for all chunks as requested, and returns the number of bytes that are
    /// requested now.
    std::int64_t ask();
    /// Assigns addresses to the chunks for which space was requested.
    /// @param at  address of the space
    void place(std::int64_t at);
    /// Returns the first lot if it has an address; otherwise null. Valid until drop_first().
    ChunkLot* first();
    /// Removes the first lot, and keeps its memory for reuse.
    void drop_first();
    /// Copies the bytes of a chunk that was not dropped yet.
    void read(std::int64_t position, std::int64_t bytes, std::vector<char>& data) const;

private:
    ChunkLot& last();

    const std::int64_t most_;
    mutable std::mutex lock_;
    std::deque<ChunkLot> lots_;
    std::int64_t added_ = 0;       ///< number of bytes that were ever added
    std::vector<ChunkLot> spare_;  ///< memory of former lots, for reuse
    std::int64_t bytes_ = 0;       ///< size in bytes of the chunks for which no space was requested
};

}  // namespace thalweg::detail
