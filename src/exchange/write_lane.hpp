// A stream of pieces that a node feeds, seen from one of its ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "exchange/parts.hpp"
#include "exchange/slots.hpp"

namespace thalweg::detail {

/// The words in shared memory by which the ranks of a node hand a lane's pieces to each other. All
/// zero when a pass begins; only its drainer sets it back.
struct WriteControl {
    struct alignas(64) Slot {
        Word packed;  ///< ranks of the node that are done with the slot's piece
        Word used;    ///< bytes of an outgoing slot
    };
    alignas(64) Word ready;  ///< pieces before this one may be packed
    Slot slots[8];
};

class WriteLane {
public:
    /// Makes a lane for a writer. @param counts  receives the seconds of waits
    WriteLane(Team& team, int of_writer, int of_rank, StreamCounts& counts);

    int writer;   ///< number in the layout
    int rank;     ///< world rank of the writer
    bool local;   ///< the writer is on this node; else the lane is outgoing
    bool mine;    ///< this rank drains it: writes it, or sends it
    Share share;  ///< the writer's, of the space of the pass

    /// Places the lane in memory, before the first pass.
    void place(WriteControl* control, const Slots& slots);
    /// Makes the words zero; its drainer calls it.
    void clear();
    void begin_pass(Share of_pass, std::vector<Extent> wanted);
    void end_pass();
    /// Returns the number of pieces of the pass.
    std::int64_t count_pieces();

    /// Enters the piece of position k, and drops that of the position whose slot it takes.
    /// @return true if there was or is one
    bool advance(std::int64_t k);
    /// Returns the last piece that took the slot of position k; empty if there is none.
    Extent piece(std::int64_t k) const { return recent_[k % slots_.count]; }
    char* slot(std::int64_t k) const { return slots_.at(k); }

    /// Hands the slot of piece k, empty again, to the ranks that pack.
    void release(std::int64_t k);
    void wait_free(std::int64_t k);
    /// Takes so many bytes of an outgoing slot for this rank.
    char* take_room(std::int64_t k, std::int64_t bytes);
    /// Announces that this rank has packed its part.
    void announce(std::int64_t k);
    /// Waits until all ranks have packed. @return bytes of an outgoing slot that were taken
    std::int64_t wait_packed(std::int64_t k);

private:
    WriteControl::Slot& words(std::int64_t k) const { return control_->slots[k % slots_.count]; }

    Team* team_;
    double* waited_;
    WriteControl* control_ = nullptr;
    Slots slots_;
    PieceCursor cursor_;
    std::vector<Extent> recent_;  ///< by slot; empty if there is none
};

/// The lanes of a node, and the memory for draining them, as a pass must not fail for want of it.
struct WriteLanes {
    std::vector<WriteLane> all;
    WriteLane* own = nullptr;        ///< the lane that this rank writes
    Slots slots;                     ///< those of the first lane
    std::vector<char> received;      ///< a message of another node
    std::deque<Box> boxes;           ///< those of the chunks that are being written
    std::vector<MPI_Request> sends;  ///< sends under way; there is room for one of each lane
};

}  // namespace thalweg::detail
