// A stream of pieces that a node feeds, seen from one of its ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "exchange/parts.hpp"
#include "exchange/slots.hpp"

namespace thalweg::detail {

/// Words in shared memory by which the ranks of a node pass the pieces of a lane to each other. All
/// are zero when a pass begins; only the rank that drains the lane resets them.
struct WriteControl {
    struct alignas(64) Slot {
        /// Number of ranks of the node that have packed their part of the slot's piece.
        Word packed;
        Word used;  ///< bytes of an outgoing slot that are in use
    };
    alignas(64) Word ready;  ///< number of pieces that may be packed now
    Slot slots[8];
};

class WriteLane {
public:
    /// Makes a lane for a writer. @param counts  receives the seconds of waits
    WriteLane(Team& team, int of_writer, int of_rank, StreamCounts& counts);

    int writer;   ///< number of the writer in the layout
    int rank;     ///< rank of the writer, in the world of the team
    bool local;   ///< the writer is on this node; else the lane is outgoing
    bool mine;    ///< this rank drains the lane: it writes the pieces, or sends them
    Share share;  ///< share of the writer in the space of the pass

    /// Assigns the lane its slots in memory, before the first pass.
    void place(WriteControl* control, const Slots& slots);
    /// Resets the words to zero. For the rank that drains the lane.
    void clear();
    void begin_pass(Share of_pass, std::vector<Extent> wanted);
    void end_pass();
    /// Returns the number of pieces of the pass.
    std::int64_t count_pieces();

    /// Enters the piece of position k, which replaces the one that had its slot before.
    /// @return true if either exists
    bool advance(std::int64_t k);
    /// Returns the last piece that used the slot of position k; empty if there is none.
    Extent piece(std::int64_t k) const { return recent_[k % slots_.count]; }
    char* slot(std::int64_t k) const { return slots_.at(k); }

    /// Gives the empty slot of piece k to the ranks that pack. For the rank that drains the lane.
    void release(std::int64_t k);
    void wait_free(std::int64_t k);
    /// Reserves so many bytes of an outgoing slot for this rank.
    char* take_room(std::int64_t k, std::int64_t bytes);
    /// Announces that this rank has packed its part.
    void announce(std::int64_t k);
    /// Waits until all ranks have packed. @return bytes in use of an outgoing slot
    std::int64_t wait_packed(std::int64_t k);

private:
    WriteControl::Slot& words(std::int64_t k) const { return control_->slots[k % slots_.count]; }

    Team* team_;
    double* waited_;
    WriteControl* control_ = nullptr;
    Slots slots_;
    PieceCursor cursor_;
    std::vector<Extent> recent_;  ///< piece in each slot; empty if there is none
};

/// The lanes of a node, and memory for draining them, allocated beforehand so that a pass cannot
/// fail.
struct WriteLanes {
    std::vector<WriteLane> all;
    WriteLane* own = nullptr;        ///< the lane that this rank writes
    Slots slots;                     ///< slots of the first lane
    std::vector<char> received;      ///< a message received from another node
    std::deque<Box> boxes;           ///< boxes of the chunks that are being written
    std::vector<MPI_Request> sends;  ///< requests of sends in progress, at most one for each lane
};

}  // namespace thalweg::detail
