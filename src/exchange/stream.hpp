// The engine: streams a space of the file, in pieces, from who holds it to who writes it.
//
// Every writer's share is a stream of pieces; a few slots of node-shared memory per stream hold the
// pieces under way. All ranks of the writer's node pack their elements of a piece straight to their
// place in its slot; when all have, the writer writes it, and the slot is free for a later piece.
// Other nodes' ranks first combine what they have of a piece in an outgoing slot of their own node;
// one of them sends it whole, and the writer unpacks it into the piece's slot.
//
// Buffers: [model array] -> slot (shared, file order and byte order) -> kernel
//      or: [model array] -> outgoing slot -> message -> receive buffer -> slot -> kernel
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "comm/team.hpp"
#include "definitions/definitions.hpp"
#include "exchange/packers.hpp"
#include "exchange/parts.hpp"
#include "exchange/pieces.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

struct StreamOptions {
    std::int64_t budget = 0;  ///< bytes of shared memory on this node
    std::int64_t piece = 0;   ///< bytes, 0: default
    bool fill_only = false;   ///< no rank will give arrays
};

struct StreamCounts {
    double pack = 0;  ///< seconds in copying to slots
    double move = 0;  ///< seconds in messages between nodes and in unpacking them
    double wait = 0;  ///< seconds asleep until others had packed or written
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

class Stream {
public:
    /**
     * Plans the exchange of all variables of a file.
     * @param writers  world rank of each of the layout's writers
     * @param spaces   the file's spaces
     * @param arena    memory of the node, `options.budget` bytes or more
     * @note Collective
     */
    static std::unique_ptr<Stream> make(Team& team, Packers& packers, Memory& arena,
                                        const Layout& layout, const std::vector<int>& writers,
                                        const Definitions& definitions,
                                        std::span<const Space> spaces, Order order,
                                        const StreamOptions& options, Status& status);

    /// Called by every rank before the agreement (any wait of all for all) that must precede each
    /// pass: ranks leave a pass while others are still in it.
    void prepare();

    /**
     * Streams one space. All ranks give the same actions; a rank gives arrays where it has some.
     * @param base     byte of the file at which the space begins
     * @param actions  per place; `fill`, and the elements of `data` that no rank holds, become the
     *                 fill value
     * @param arrays   per place, null where this rank has none
     * @param misfits  per variable, counts this rank's values that do not fit its type
     * @return this rank's own failure; the caller lets the ranks agree
     * @note Collective
     */
    Status run(const Space& space, std::int64_t base, std::int64_t record,
               std::span<const Action> actions, std::span<const ArrayView* const> arrays,
               Storage& storage, std::span<std::int64_t> misfits);

    const StreamCounts& counts() const { return counts_; }

    static constexpr int max_slots = 8;

private:
    struct Control;
    /// The blocks that describe variables of one decomposition and order of dimensions.
    struct View {
        const Decomposition* decomposition;
        std::vector<int> order;
        std::vector<std::int64_t> shape;
        std::vector<HeldBox> own;
        std::map<int, std::vector<HeldBox>> remote;  ///< other nodes' ranks -> what meets my stream
    };
    /// A stream that this node feeds: its writer is here (local), or elsewhere (outgoing).
    struct Lane {
        int writer;  ///< of the layout
        int rank;    ///< world rank of the writer
        bool local;
        bool mine;  ///< this rank drains it: writes it, or sends it
        Control* control;
        char* memory;   ///< slots of `capacity_` bytes
        Share share{};  ///< the writer's, of the space of the pass
        PieceCursor cursor;
        std::vector<Extent> recent;  ///< the last slots_ pieces; empty extents where there is none
    };
    struct Pass;

    Stream(Team& team, Packers& packers) : team_(team), packers_(packers) {}
    void describe_variables(const Definitions& definitions);
    std::vector<std::set<int>> find_writers(std::span<const Space> spaces) const;
    std::map<int, std::vector<HeldBox>> find_held(std::span<const Space> spaces, std::size_t view,
                                                  std::set<int>& met) const;
    std::vector<Packet> tell_boxes(std::span<const Space> spaces,
                                   std::vector<std::set<int>>& met_by_view) const;
    Status exchange_boxes(std::span<const Space> spaces, std::vector<std::set<int>>& met_by_view);
    std::vector<std::int64_t> bits_of(std::span<const std::set<int>> met_by_view) const;
    Status add_lanes(std::span<const std::int64_t> bits);
    Status share_arena(Memory& arena, const StreamOptions& options);

    char* slot(const Lane& lane, std::int64_t piece) const;
    void begin_lane(Pass& pass, Lane& lane);
    void pack_local(Pass& pass, Lane& lane, std::int64_t k);
    void pack_outgoing(Pass& pass, Lane& lane, std::int64_t k);
    void pack_place(Pass& pass, const Share& share, std::size_t place, ElementRange range, char* to,
                    std::int64_t piece_begin, bool dense, std::int64_t* used);
    std::int64_t bytes_in(Pass& pass, const Share& share, Extent piece) const;
    void wait_free(Lane& lane, std::int64_t k);
    void wait_packed(Lane& lane, std::int64_t k);
    void announce(Lane& lane, std::int64_t k);
    void release(Lane& lane, std::int64_t k);
    void prefill(Pass& pass, Lane& lane, Extent piece, std::int64_t k);
    void receive_pieces(Pass& pass, Lane& lane, Extent piece, std::int64_t k);
    void unpack(Pass& pass, const Share& share, int node, std::span<const char> message,
                Extent piece, char* to);
    Status write_piece(Pass& pass, Lane& lane, Extent piece, std::int64_t k);
    std::int64_t most_pieces();
    void send_pieces(std::int64_t k, std::vector<MPI_Request>& sends);
    void drain_own(Pass& pass, std::int64_t k, std::int64_t calls);
    bool enter_pieces(Pass& pass, std::int64_t k);

    Team& team_;
    Packers& packers_;
    const Layout* layout_ = nullptr;
    const Definitions* definitions_ = nullptr;
    Order order_ = Order::big_endian;
    std::vector<int> writers_;
    std::vector<View> views_;
    std::vector<int> view_of_;     ///< of each variable
    std::vector<FillValue> fill_;  ///< of each variable, in order_
    std::vector<Lane> lanes_;
    int own_ = -1;  ///< lane that this rank writes
    int slots_ = 1;
    std::int64_t piece_ = 0;
    std::size_t capacity_ = 0;
    std::vector<char> received_;
    std::deque<Box> boxes_;  // of the chunks that are being written
    StreamCounts counts_;
};

}  // namespace thalweg::detail
