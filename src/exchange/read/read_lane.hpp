// A stream of pieces from which the ranks of a node take elements, seen from one of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "exchange/pieces.hpp"
#include "exchange/read/delivery.hpp"
#include "exchange/slots.hpp"
#include "storage/read_ahead.hpp"

namespace thalweg::detail {

/// The memory of data read ahead by each reader of the node, visible to all its ranks. It begins
/// with a table that tells for each piece of a pass where the rest of the memory holds it.
struct ReadCache {
    static constexpr std::int64_t most = 4096;  ///< largest number of pieces in the table
    static constexpr std::int64_t data_at = most * sizeof(std::int64_t);

    ReadAhead* ahead = nullptr;  ///< null unless this rank is a reader
    std::vector<char*> memory;   ///< memory of each reader, by its place in the node

    std::int64_t* table(int place) const { return reinterpret_cast<std::int64_t*>(memory[place]); }
};

/// Words of one rank in shared memory that show its progress to the other ranks of its node. Only
/// this rank changes them. All are zero when a pass begins.
struct ReadControl {
    alignas(64) Futex read;  ///< positions up to which the rank has read its own pieces
    Futex kept;              ///< positions up to which the rank's pieces were read ahead
    /// Positions up to which the rank has received pieces of other nodes.
    alignas(64) Futex received;
    /// Positions up to which the rank has taken the elements that it wants.
    alignas(64) Futex taken;

    static ReadControl* in(const Memory& arena) {
        return reinterpret_cast<ReadControl*>(arena.data());
    }
};

struct ReadLane {
    int reader = 0;                  ///< number of the reader in the layout
    int rank = 0;                    ///< world rank of the reader
    int owner = 0;                   ///< place in this node of the rank that fills the slots
    bool local = false;              ///< the reader is on this node
    ReadControl* control = nullptr;  ///< control words of the owner
    Slots slots{};
    PieceCursor cursor{};
    Extent piece{};      ///< piece at the current position
    bool later = false;  ///< the piece had not arrived when others were taken, and is taken later

    /// Returns the word that counts the positions whose pieces have arrived.
    Futex& filled() const { return local ? control->read : control->received; }
    /// Returns the address of the piece of position k, once it has arrived.
    const char* at(std::int64_t k, const ReadCache* read_cache) const {
        if (!local || control->kept.load(std::memory_order_relaxed) <= k) return slots.at(k);
        return read_cache->memory[owner] + ReadCache::data_at + read_cache->table(owner)[k];
    }
};

/// The lanes of a node, and memory for a pass, allocated beforehand so that the pass cannot fail.
struct ReadLanes {
    std::vector<ReadLane> all;
    ReadLane* own = nullptr;  ///< the lane that this rank reads
    /// Control words of each rank of the node, by its place.
    std::span<ReadControl> controls;
    std::vector<std::vector<char>> outgoing;  ///< messages being sent to each node
    std::vector<MPI_Request> sends;           ///< their requests
    std::vector<Delivery*> first_of;          ///< first delivery of each place in this pass
};

}  // namespace thalweg::detail
