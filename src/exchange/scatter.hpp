// The engine run backwards: streams what is read of a file, in pieces, to the ranks that want it.
//
// Every reader's share is a stream of pieces; a few slots of node-shared memory per stream hold the
// pieces under way. The reader reads a piece into its slot, and all ranks of its node take what
// they want straight from there. To another node goes one message with what its ranks want of the
// piece, each element once; it lands in a slot of that node, from where they take it. Where lists
// and boxes have so much in common that this would be more than the piece, the piece is sent.
//
// Pieces that were read ahead lie ready in memory of their reader's that its node shares, and are
// taken from there: as many as there are from the beginning of the stream.
//
// Buffers: file -> slot (shared, file order and byte order) -> kernel -> [model array]
//      or: file -> slot -> message -> slot of the other node -> kernel -> [model array]
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/team.hpp"
#include "exchange/delivery.hpp"
#include "exchange/parts.hpp"
#include "exchange/stream.hpp"
#include "storage/read_ahead.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// Where what was read ahead lies: memory of each reader of the node, seen by all its ranks. A
/// table at its beginning tells where the pieces of a pass are in the rest.
struct Shelf {
    static constexpr std::int64_t most = 4096;  ///< pieces in the table
    static constexpr std::int64_t data_at = most * static_cast<std::int64_t>(sizeof(std::int64_t));

    ReadAhead* ahead = nullptr;  ///< on a reader
    std::vector<char*> memory;   ///< by place in the node

    std::int64_t* table(int place) const { return reinterpret_cast<std::int64_t*>(memory[place]); }
};

class Scatter {
public:
    /**
     * Plans a read; it can be run again for other records and variables of the same shapes.
     * @param space    the places one after another; the layout cuts it among the readers
     * @param wanted   per place, all that this rank will ever take of it
     * @param readers  world rank of each reader
     * @param arena    memory of the node, `options.budget` bytes or more
     * @note Collective
     */
    static std::unique_ptr<Scatter> make(Team& team, Memory& arena, Space&& space,
                                         std::vector<std::vector<WantedBox>>&& wanted,
                                         const std::vector<int>& readers,
                                         const StreamOptions& options, Status& status);

    /// Called by every rank before the agreement (any wait of all for all) that must precede each
    /// pass: ranks leave a pass while others are still in it.
    static void prepare(Team& team, Memory& arena);

    /**
     * Reads all places.
     * @param sources  of each place
     * @param shelf    null: nothing was read ahead
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status run(std::span<const PlaceSource> sources, std::span<Delivery> deliveries, Source& source,
               const Shelf* shelf);

    /// Adds this reader's pieces of such a pass, from the `first` on, to what is read ahead, as
    /// many as there is room for. The sources have to outlive them.
    void read_ahead(std::span<const PlaceSource> sources, std::int64_t first,
                    ReadAhead& ahead) const;

    const StreamCounts& counts() const { return counts_; }

private:
    struct Control;
    /// A stream that this node takes from: its reader is here (local), or elsewhere (incoming).
    struct Lane {
        int reader;  ///< of the layout
        int rank;    ///< world rank of the reader
        int owner;   ///< the rank of this node, by its place, that fills the slots
        bool local;
        char* memory;  ///< slots of `capacity_` bytes
        PieceCursor cursor;
        Extent piece;  ///< at the position that is under way
        bool whole;    ///< comes from elsewhere as it is: its parts have elements more than once
        bool later;    ///< was not there yet when others were taken
    };
    struct Pass;

    explicit Scatter(Team& team) : team_(team) {}
    Status cover_node(const std::vector<std::vector<WantedBox>>& wanted);
    std::vector<HeldBox> cover_near(int reader, std::size_t place) const;
    Status exchange_covers(std::set<int>& met);
    std::vector<Packet> tell_covers(std::set<int>& met) const;
    Status add_lanes(const std::set<int>& met);
    Status share_arena(const StreamOptions& options);

    Control& control(int place) const;
    char* slot(const Lane& lane, std::int64_t k) const;
    const char* filled_piece(const Pass& pass, const Lane& lane, std::int64_t k) const;
    PieceCursor pieces_of(int reader) const;
    std::vector<ReadRange> ranges_of(Extent piece, std::span<const PlaceSource> sources,
                                     char* to) const;
    bool take_kept(Pass& pass, Extent piece, std::int64_t k, bool wait);
    void wait_taken(std::int64_t k);
    void wait_filled(const Lane& lane, std::int64_t k);
    void read_piece(Pass& pass, const Lane& lane, std::int64_t k);
    void pack_parts(const Pass& pass, const Lane& lane, std::int64_t k, std::size_t node,
                    std::vector<char>& message) const;
    bool comes_whole(const Lane& lane) const;
    void send_parts(Pass& pass, const Lane& lane, std::int64_t k);
    void receive_parts(const Lane& lane, std::int64_t k);
    bool meets(std::span<const std::vector<HeldBox>> boxes, Extent piece) const;
    void take(Pass& pass, const Lane& lane, std::int64_t k);
    void take_pieces(Pass& pass, std::int64_t k);
    void take_whole(Pass& pass, const Lane& lane, std::int64_t k);
    void take_incoming(const Lane& lane, std::int64_t k);

    Team& team_;
    Memory* arena_ = nullptr;
    Space space_;
    std::unique_ptr<Layout> layout_;
    std::vector<int> readers_;
    std::vector<std::vector<HeldBox>> cover_;  ///< per place: what this node wants; several nodes
    bool overlaps_ = false;                    ///< whether it may have elements more than once
    /// Per node, per place: what other nodes want of this reader's share; empty for others.
    std::vector<std::vector<std::vector<HeldBox>>> remote_;
    std::vector<Delivery*> first_of_;  ///< of a pass, by place
    std::vector<Lane> lanes_;
    int own_ = -1;  ///< lane that this rank reads
    int slots_ = 1;
    std::int64_t piece_ = 0;
    std::size_t capacity_ = 0;
    std::vector<std::vector<char>> outgoing_;  ///< per node, messages under way
    std::vector<MPI_Request> sends_;
    StreamCounts counts_;
};

}  // namespace thalweg::detail
