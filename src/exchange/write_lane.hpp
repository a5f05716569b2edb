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
    /// @param counts  gets the seconds of waits
    WriteLane(Team& team, int of_writer, int of_rank, StreamCounts& counts);

    int writer;   ///< of the layout
    int rank;     ///< world rank of the writer
    bool local;   ///< the writer is on this node; else the lane is outgoing
    bool mine;    ///< this rank drains it: writes it, or sends it
    Share share;  ///< the writer's, of the space of the pass

    /// Before the first pass.
    void place(WriteControl* control, const Slots& slots);
    /// On its drainer: makes the words zero.
    void clear();
    void begin_pass(Share of_pass, std::vector<Extent> wanted);
    void end_pass();
    /// Pieces of the pass.
    std::int64_t count_pieces();

    /// Position k takes its piece, and drops that of the position whose slot it takes.
    /// @return whether there was or is one
    bool advance(std::int64_t k);
    /// The last piece that took the slot of position k; empty if there is none.
    Extent piece(std::int64_t k) const { return recent_[k % slots_.count]; }
    char* slot(std::int64_t k) const { return slots_.at(k); }

    /// Hands the slot of piece k, empty again, to those who pack.
    void release(std::int64_t k);
    void wait_free(std::int64_t k);
    /// So many bytes of an outgoing slot, for this rank.
    char* take_room(std::int64_t k, std::int64_t bytes);
    /// This rank has packed its part.
    void announce(std::int64_t k);
    /// Until all have. @return bytes of an outgoing slot that were taken
    std::int64_t wait_packed(std::int64_t k);

private:
    WriteControl::Slot& words(std::int64_t k) const { return control_->slots[k % slots_.count]; }

    Team* team_;
    double* waited_;
    WriteControl* control_ = nullptr;
    Slots slots_;
    PieceCursor cursor_;
    std::vector<Extent> recent_;  ///< by slot; empty where there is none
};

/// Those of a node, and what a pass needs to drain them: it must not fail for want of memory.
struct WriteLanes {
    std::vector<WriteLane> all;
    WriteLane* own = nullptr;        ///< that this rank writes
    Slots slots;                     ///< of the first
    std::vector<char> received;      ///< a message of another node
    std::deque<Box> boxes;           ///< of the chunks that are being written
    std::vector<MPI_Request> sends;  ///< under way; there is room for one of each lane
};

}  // namespace thalweg::detail
