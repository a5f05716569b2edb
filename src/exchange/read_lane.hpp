// A stream of pieces from which a node takes, seen from one of its ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "exchange/delivery.hpp"
#include "exchange/parts.hpp"
#include "exchange/slots.hpp"
#include "storage/read_ahead.hpp"

namespace thalweg::detail {

/// Memory of what was read ahead: that of each reader of the node, seen by all its ranks. A table
/// at its beginning has the places of a pass's pieces in the rest.
struct ReadCache {
    static constexpr std::int64_t most = 4096;  ///< pieces in the table
    static constexpr std::int64_t data_at = most * sizeof(std::int64_t);

    ReadAhead* ahead = nullptr;  ///< null unless this rank is a reader
    std::vector<char*> memory;   ///< by place in the node

    std::int64_t* table(int place) const { return reinterpret_cast<std::int64_t*>(memory[place]); }
};

/// The words of one rank in shared memory by which it tells the others of its node how far it is;
/// only it changes them. All zero when a pass begins.
struct ReadControl {
    alignas(64) Word read;      ///< positions up to which it has read its own stream
    Word kept;                  ///< positions up to which the stream was read ahead
    alignas(64) Word received;  ///< positions up to which it has what other nodes send it
    alignas(64) Word taken;     ///< positions up to which it has taken what it wants

    static ReadControl* in(const Memory& arena) {
        return reinterpret_cast<ReadControl*>(arena.data());
    }
};

struct ReadLane {
    int reader = 0;                  ///< number in the layout
    int rank = 0;                    ///< world rank of the reader
    int owner = 0;                   ///< the rank of this node, by its place, that fills the slots
    bool local = false;              ///< the reader is on this node
    ReadControl* control = nullptr;  ///< the owner's
    Slots slots{};
    PieceCursor cursor{};
    Extent piece{};      ///< at the position that is under way
    bool whole = false;  ///< another node sends all of the piece
    bool later = false;  ///< the piece had not arrived when others were taken

    /// Returns the word that counts the positions up to which the pieces have arrived.
    Word& filled() const { return local ? control->read : control->received; }
    /// Returns the address of the piece of position k, once it has arrived.
    const char* at(std::int64_t k, const ReadCache* read_cache) const {
        if (!local || control->kept.load(std::memory_order_relaxed) <= k) return slots.at(k);
        return read_cache->memory[owner] + ReadCache::data_at + read_cache->table(owner)[k];
    }
};

/// The lanes of a node, and the memory of a pass, which should not fail for want of it.
struct ReadLanes {
    std::vector<ReadLane> all;
    ReadLane* own = nullptr;                  ///< the lane that this rank reads
    std::span<ReadControl> controls;          ///< those of the node's ranks, by place
    std::vector<std::vector<char>> outgoing;  ///< per node, messages under way
    std::vector<MPI_Request> sends;           ///< their requests
    std::vector<Delivery*> first_of;          ///< first delivery of the pass, by place
};

}  // namespace thalweg::detail
