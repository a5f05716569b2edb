// A stream of pieces to which the ranks of a node contribute, seen from one of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "exchange/slots.hpp"
#include "exchange/write/piece_packer.hpp"

namespace thalweg::detail {

/// Words in shared memory through which the ranks of a node hand the pieces of a lane to each
/// other. All words are zero when a pass begins; only the rank that drains the lane resets them.
struct WriteControl {
    struct alignas(64) Slot {
        Futex freed;   ///< number of pieces of the slot that were released for packing
        Futex packed;  ///< number of ranks that have packed their part of the slot's piece
        Futex used;    ///< bytes of an outgoing slot that are in use
    };
    /// Returns the bytes of the words of a lane.
    static std::int64_t bytes(std::int64_t slots, std::int64_t groups);
    /// Returns the largest number of groups for which the words of all lanes take a small part of
    /// the memory.
    static std::int64_t most_groups(std::int64_t memory, std::int64_t lanes);

    Futex* joined = nullptr;   ///< number of ranks that are counted in `holders`
    Slot* slots = nullptr;     ///< one for each slot
    Futex* holders = nullptr;  ///< for each group of pieces, the number of ranks that pack them
    std::int64_t groups = 1;   ///< number of words of `holders`
};

class WriteLane {
public:
    /// Makes a lane for a writer. @param counts  receives the seconds of waits
    WriteLane(Team& team, int of_writer, int of_rank, StreamCounts& counts);

    int writer;   ///< number of the writer in the layout
    int rank;     ///< rank of the writer, in the world of the team
    bool local;   ///< the writer is on this node; otherwise the lane is outgoing
    bool mine;    ///< this rank drains the lane: it writes the pieces, or sends them
    Share share;  ///< share of the writer in the space of the pass

    /// A piece that this rank packs.
    struct Held {
        std::int64_t k = 0;
        Extent piece;
        /// Estimated bytes of the piece that this rank has; 0 only if it has none.
        std::int64_t bytes = 0;
    };

    /// Assigns the lane its words and slots in memory, before the first pass.
    void place(char* control, std::int64_t groups, const Slots& slots);
    /// Resets the words to zero. Only the rank that drains the lane calls it.
    void clear();
    /// Begins a pass. Allocates memory; if that fails, it can be called again.
    void begin_pass(Share of_pass, std::vector<Extent> wanted, const PiecePacker& packer);
    /// Counts this rank as a holder of its pieces, once in a pass.
    void join();
    void end_pass();
    /// Returns the number of pieces of the pass.
    std::int64_t pieces() const { return pieces_; }
    /// Returns the position after the last one at which this rank has something to do.
    std::int64_t end() const;

    /// Enters the piece of position k, which replaces the earlier piece of its slot. Only the rank
    /// that drains the lane calls it.
    void advance(std::int64_t k);
    /// Returns the last piece that used the slot of position k; empty if there is none. Only the
    /// rank that drains the lane calls it.
    Extent piece(std::int64_t k) const { return recent_[k % slots_.count]; }
    const Slots& slots() const { return slots_; }
    char* slot(std::int64_t k) const { return slots_.at(k); }
    /// Returns the piece that this rank packs at position k; null if there is none. Positions come
    /// in ascending order.
    const Held* held(std::int64_t k);

    /// Gives the empty slot of piece k to the ranks that pack. Only the rank that drains the lane
    /// calls it.
    void release(std::int64_t k);
    /// Sleeps until the piece can be packed. A rank that must sleep waits for several pieces, if
    /// this makes its work worth a wake-up.
    /// @param reach  largest number of pieces to wait for
    void wait_free(const Held& held, std::int64_t reach);
    /// Reserves `bytes` bytes of an outgoing slot for this rank.
    char* take_room(std::int64_t k, std::int64_t bytes);
    /// Announces that this rank has packed its part.
    void announce(std::int64_t k);
    /// Sleeps until all holders have packed the piece that uses the slot of position k.
    /// @return bytes in use of an outgoing slot
    std::int64_t wait_packed(std::int64_t k);

private:
    WriteControl::Slot& words(std::int64_t k) const { return control_.slots[k % slots_.count]; }
    bool is_free(std::int64_t k) const;
    std::int64_t members() const { return std::ssize(team_->topology().members); }

    Team* team_;
    double* waited_;
    WriteControl control_;
    Slots slots_;
    PieceCursor cursor_;
    std::int64_t pieces_ = 0;
    std::int64_t group_ = 1;      ///< number of pieces of a group
    bool open_ = false;           ///< the first pieces need no release, as nothing is to be filled
    std::vector<Held> held_;      ///< pieces that this rank packs, in ascending order
    std::size_t next_ = 0;        ///< position in held_
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
