// Explains how a read runs, and why no rank waits forever.
//
// All ranks walk the same positions k = 0, 1, ...; at position k a rank (1) reads its piece k as a
// reader, unless it was read ahead, and starts to send other nodes their parts, (2) receives the
// parts of the pieces k that it receives for its node, (3) finishes its sends, (4) takes what it
// wants of every piece k. R being the number of slots, (1) and (2) wait until all ranks of the node
// have taken the pieces k - R.
//
// Consider the smallest position m at which some rank stands. All pieces before m are taken, so (1)
// waits for nobody; (2) waits for sends that their readers, at m or later, start in (1); (3) waits
// for receivers, at m or later, to come to (2); (4) waits for (1) and (2) of ranks at m or later.
// Sends complete before a rank sleeps, as MPI may need its help.
// SPDX-License-Identifier: Apache-2.0
#include "exchange/read/scatter.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/read/covers.hpp"
#include "exchange/read/read_lane.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

namespace {

/// The sources from which a pass reads.
struct ReadFrom {
    std::span<const PlaceSource> sources;  ///< one for each place
    Source& source;
    const ReadCache* read_cache;  ///< null: nothing was read ahead
};

class ScatterPass {
public:
    ScatterPass(Team& team, const FileSection& space, const Covers& covers, ReadLanes& lanes,
                const ReadFrom& from, StreamCounts& counts)
        : team_(team),
          space_(space),
          covers_(covers),
          lanes_(lanes),
          from_(from),
          counts_(counts),
          me_(team.topology().node_rank) {}

    /// Runs the pass. @note Collective
    Status run();

private:
    /// Tests if this rank reads a piece at the current position.
    bool has_own() const { return lanes_.own != nullptr && lanes_.own->piece.size() > 0; }
    void begin();
    bool advance();
    bool take_kept(Extent piece, std::int64_t k, bool wait);
    void read_own(std::int64_t k);
    void send_parts(std::int64_t k);
    void receive_parts(const ReadLane& lane, std::int64_t k);
    void finish_sends();
    void wait_taken(std::int64_t k);
    void take_pieces(std::int64_t k);
    void take(const ReadLane& lane, std::int64_t k);
    void wait_filled(const ReadLane& lane, std::int64_t k);
    void take_whole(const ReadLane& lane, std::int64_t k);
    void take_parts(const ReadLane& lane, std::int64_t k);

    Team& team_;
    const FileSection& space_;
    const Covers& covers_;
    ReadLanes& lanes_;
    ReadFrom from_;
    StreamCounts& counts_;
    int me_;                 ///< place of this rank in the node
    bool receives_ = false;  ///< this rank receives from other nodes, on behalf of its node
    Status status_;
    /// Number of this reader's pieces, from the first on, that were read ahead.
    std::int64_t kept_ = 0;
    std::optional<ReadAhead::Pause> pause_;  ///< set while this rank reads itself
};

constexpr int parts_tag = 3;

void count_to(Futex& word, std::int64_t k) {
    word.store(k + 1, std::memory_order_release);
    wake_all(word);
}

/// Returns the ranges to read for a piece, each with its destination, from `to` on.
std::vector<ReadRange> ranges_of(const FileSection& space, Extent piece,
                                 std::span<const PlaceSource> sources, char* to) {
    std::vector<ReadRange> ranges;
    for (const auto& [place, range] : places_in(space, piece)) {
        const VariableSlot& p = space.places[place];
        const PlaceSource& source = sources[place];
        ranges.push_back({source.variable, source.record, &source.part, source.first + range.begin,
                          range.end - range.begin,
                          to + (p.offset + range.begin * p.element - piece.begin)});
    }
    return ranges;
}

// After an error of its own, such as a lack of memory for reading or packing, this rank continues
// the pass, as other ranks wait for it.
Status ScatterPass::run() {
    ReadControl& control = lanes_.controls[me_];
    begin();
    for (std::int64_t k = 0; advance(); ++k) {
        read_own(k);
        if (receives_) wait_taken(k);
        send_parts(k);
        if (receives_) {
            for (const ReadLane& lane : lanes_.all)
                if (!lane.local && lane.owner == me_) receive_parts(lane, k);
            count_to(control.received, k);
        }
        finish_sends();
        take_pieces(k);
        count_to(control.taken, k);
    }
    end_streams();
    return std::move(status_);
}

/// Announces the pieces that were read ahead, so that other ranks do not wait for them.
void ScatterPass::begin() {
    if (lanes_.own != nullptr) {
        PieceCursor& cursor = lanes_.own->cursor;
        cursor.rewind();
        Extent piece;
        while (cursor.next(piece) && take_kept(piece, kept_, false)) continue;
        if (kept_ > 0) count_to(lanes_.controls[me_].read, kept_ - 1);
    }
    for (ReadLane& lane : lanes_.all) {
        lane.cursor.rewind();
        receives_ |= !lane.local && lane.owner == me_;
    }
}

/// Moves to the next piece of each lane. @return false if no lane has any
bool ScatterPass::advance() {
    bool any = false;
    for (ReadLane& lane : lanes_.all) {
        if (!lane.cursor.next(lane.piece)) lane.piece = {};
        any |= lane.piece.size() > 0;
    }
    return any;
}

/// Enters this reader's piece of position k in the table if this piece and all pieces before it
/// were read ahead.
bool ScatterPass::take_kept(Extent piece, std::int64_t k, bool wait) {
    const ReadLane& lane = *lanes_.own;
    ReadAhead* ahead =
        from_.read_cache == nullptr || k >= ReadCache::most ? nullptr : from_.read_cache->ahead;
    if (ahead == nullptr || kept_ != k) return false;
    char* const base = lane.slots.memory;
    const std::int64_t at = ahead->take(ranges_of(space_, piece, from_.sources, base), base, wait);
    if (at < 0) return false;
    from_.read_cache->table(lane.owner)[k] = at;
    ++kept_;
    lane.control->kept.store(k + 1, std::memory_order_relaxed);
    return true;
}

void ScatterPass::read_own(std::int64_t k) {
    if (!has_own() || k < kept_) return;
    const ReadLane& lane = *lanes_.own;
    if (!take_kept(lane.piece, k, true)) {
        wait_taken(k);
        if (status_.ok()) {
            if (from_.read_cache != nullptr && !pause_) pause_.emplace(from_.read_cache->ahead);
            status_ = catch_errors([&] {
                return from_.source.read(
                    ranges_of(space_, lane.piece, from_.sources, lane.slots.at(k)));
            });
        }
    }
    count_to(lane.control->read, k);
}

/// Waits until all ranks have taken their elements from the slots of position k.
void ScatterPass::wait_taken(std::int64_t k) {
    const std::int64_t before = k - lanes_.all.front().slots.count;
    if (before < 0) return;
    for (ReadControl& control : lanes_.controls)
        wait_beyond(control.taken, before, "the node's ranks to take what was read", counts_.wait,
                    team_);
}

/// Sends to every other node the parts of this reader's piece that it wants.
void ScatterPass::send_parts(std::int64_t k) {
    if (!has_own() || !covers_.any_remote()) return;
    const Topology& topology = team_.topology();
    const ReadLane& lane = *lanes_.own;
    // Pairwise order (CAM, section 3.1): in round m node i sends to node i + m.
    for (int m = 1; m < topology.nodes; ++m) {
        const int node = (topology.node + m) % topology.nodes;
        if (!covers_.meets(node, lane.piece)) continue;
        std::vector<char>& message = lanes_.outgoing[node];
        const Status packed = catch_errors([&] {
            Stopwatch watch(counts_.pack);
            covers_.pack(node, lane.piece, lane.at(k, from_.read_cache), message);
        });
        if (!packed.ok()) {  // send a message even without data, as other nodes wait for it
            message.clear();
            if (status_.ok()) status_ = packed;
        }
        const int place = lane.reader % topology.sizes[node];
        lanes_.sends.push_back(team_.world().start_send(message.data(), message.size(),
                                                        topology.rank_of(node, place), parts_tag));
        ++counts_.messages;
        counts_.message_bytes += message.size();
    }
}

void ScatterPass::receive_parts(const ReadLane& lane, std::int64_t k) {
    if (lane.piece.size() <= 0 || !covers_.meets(lane.piece)) return;
    const Waiting others("other nodes to send what they read");
    Stopwatch watch(counts_.move);
    team_.world().receive(lane.slots.at(k), lane.slots.capacity, lane.rank, parts_tag);
}

void ScatterPass::finish_sends() {
    if (lanes_.sends.empty()) return;
    const Waiting others("other nodes to receive what was read");
    Stopwatch watch(counts_.move);
    team_.world().finish(lanes_.sends);
}

/// Takes elements from the pieces of position k: first from this reader's own, while it is in
/// cache, then from others in the order in which they arrive.
void ScatterPass::take_pieces(std::int64_t k) {
    const std::int64_t n = lanes_.all.size();
    const std::int64_t first = lanes_.own == nullptr ? 0 : lanes_.own - lanes_.all.data();
    for (std::int64_t i = 0; i < n; ++i) {
        ReadLane& lane = lanes_.all[(first + i) % n];
        lane.later = lane.filled().load(std::memory_order_acquire) <= k;
        if (!lane.later) take(lane, k);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const ReadLane& lane = lanes_.all[(first + i) % n];
        if (lane.later) take(lane, k);
    }
}

void ScatterPass::take(const ReadLane& lane, std::int64_t k) {
    if (lane.piece.size() <= 0) return;
    const double begin = now(), waited = counts_.wait;
    if (lane.local)
        take_whole(lane, k);
    else
        take_parts(lane, k);
    counts_.pack += now() - begin - (counts_.wait - waited);
}

void ScatterPass::wait_filled(const ReadLane& lane, std::int64_t k) {
    wait_beyond(lane.filled(), k,
                lane.local ? "a reader to read" : "other nodes to send what they read",
                counts_.wait, team_);
}

/// Takes elements from a piece whose slot holds it as the file does.
void ScatterPass::take_whole(const ReadLane& lane, std::int64_t k) {
    const char* piece = nullptr;  // null until the piece has arrived
    for (const auto& [place, range] : places_in(space_, lane.piece)) {
        const VariableSlot& p = space_.places[place];
        const Index stride = byte_strides(p);
        const std::int64_t begin = p.offset - lane.piece.begin;
        for (Delivery* d = lanes_.first_of[place]; d != nullptr; d = d->other) {
            char fill[8];
            default_fill(d->array.type, fill);
            for_frames(p.shape, range, d->boxes, [&](const WantedBox& wanted, const Box& b) {
                if (!has_any(wanted, b)) return;
                if (piece == nullptr) {
                    wait_filled(lane, k);
                    piece = lane.at(k, from_.read_cache);
                }
                deliver(*d, wanted, b, piece + begin + linear(p.shape, b.low) * p.element, stride,
                        fill);
            });
        }
    }
}

/// Takes elements from the densely packed parts of a piece that another node has sent.
void ScatterPass::take_parts(const ReadLane& lane, std::int64_t k) {
    const char* from = lane.slots.at(k);
    for (const auto& [place, range] : places_in(space_, lane.piece)) {
        const VariableSlot& p = space_.places[place];
        Delivery* const first = lanes_.first_of[place];
        for_parts(p.shape, range, covers_.own(place), [&](const HeldBox&, const Box& part) {
            Index stride{};
            const std::int64_t bytes = dense_strides(part.nd, part.count, p.element, stride);
            for (Delivery* d = first; d != nullptr; d = d->other) {
                char fill[8];
                default_fill(d->array.type, fill);
                for (const WantedBox& wanted : d->boxes) {
                    Box common;
                    if (!intersect(part, wanted.box, common) || !has_any(wanted, common)) continue;
                    wait_filled(lane, k);
                    std::int64_t at = 0;
                    for (int i = 0; i < part.nd; ++i)
                        at += (common.low[i] - part.low[i]) * stride[i];
                    deliver(*d, wanted, common, from + at, stride, fill);
                }
            }
            from += bytes;
        });
    }
}

}  // namespace

std::unique_ptr<Scatter> Scatter::make(Team& team, Memory& arena, FileSection&& space,
                                       std::vector<std::vector<WantedBox>>&& wanted,
                                       const std::vector<int>& readers,
                                       const StreamOptions& options, Status& status) {
    std::unique_ptr<Scatter> scatter(new Scatter(team, std::move(space)));
    const std::unique_ptr<Layout> layout = make_record_layout(readers.size(), 1);
    std::set<int> met;
    if (team.topology().nodes > 1) {
        // Collective calls of a node throw on the ranks of that node only, so let all ranks agree.
        status = team.agree(catch_errors([&] { return scatter->covers_.gather(team, wanted); }));
        if (!status.ok()) return nullptr;
        status = team.agree(scatter->covers_.exchange(team, *layout, readers, met));
        if (!status.ok()) return nullptr;
    }
    scatter->add_lanes(readers, met);
    status = scatter->place_lanes(*layout, arena, options);
    return status.ok() ? std::move(scatter) : nullptr;
}

void Scatter::add_lanes(const std::vector<int>& readers, const std::set<int>& met) {
    const Topology& topology = team_.topology();
    const int members = std::ssize(topology.members);
    for (int reader = 0; reader < std::ssize(readers); ++reader) {
        const int rank = readers[reader];
        const bool local = topology.node_of[rank] == topology.node;
        if (!local && met.count(reader) == 0) continue;
        ReadLane& lane = lanes_.all.emplace_back();
        lane.reader = reader;
        lane.rank = rank;
        lane.local = local;
        lane.owner = local ? std::find(topology.members.begin(), topology.members.end(), rank) -
                                 topology.members.begin()
                           : reader % members;
    }
    for (ReadLane& lane : lanes_.all)
        if (lane.rank == team_.rank()) lanes_.own = &lane;
}

Status Scatter::place_lanes(const Layout& layout, Memory& arena, const StreamOptions& options) {
    const Topology& topology = team_.topology();
    lanes_.controls = {ReadControl::in(arena), topology.members.size()};
    SlotNeeds needs;
    needs.controls = lanes_.controls.size_bytes();
    needs.piece = 1 << 20;  // all slots together fit into the last level of cache
    needs.smallest = needs.unit = 64;
    // A piece ends at the end of an element, up to one element beyond the nominal size of a piece.
    needs.margin = 128;
    needs.count = topology.members.size() == 1 ? 1 : 3;
    Slots slots;
    Status status = cut_memory(
        team_, arena, options, needs, std::ssize(lanes_.all), {}, [](std::int64_t) {}, slots);
    if (!status.ok()) return status;
    for (ReadLane& lane : lanes_.all) {
        lane.control = &lanes_.controls[lane.owner];
        lane.slots = slots;
        lane.cursor = {space_, layout.share(lane.reader, space_, 0).extents(), slots.piece};
        slots.memory += slots.count * slots.capacity;
    }
    lanes_.outgoing.resize(topology.nodes);
    lanes_.sends.reserve(topology.nodes);
    lanes_.first_of.resize(space_.places.size());
    return {};
}

void Scatter::prepare(Team& team, Memory& arena) {
    new (ReadControl::in(arena) + team.topology().node_rank) ReadControl{};
}

Status Scatter::run(std::span<const PlaceSource> sources, std::span<Delivery> deliveries,
                    Source& source, const ReadCache* read_cache) {
    std::fill(lanes_.first_of.begin(), lanes_.first_of.end(), nullptr);
    for (Delivery& d : deliveries) d.other = std::exchange(lanes_.first_of[d.place], &d);
    return ScatterPass(team_, space_, covers_, lanes_, {sources, source, read_cache}, counts_)
        .run();
}

void Scatter::read_ahead(std::span<const PlaceSource> sources, std::int64_t first,
                         ReadAhead& ahead) const {
    if (lanes_.own == nullptr) return;
    PieceCursor cursor = lanes_.own->cursor;
    cursor.rewind();
    Extent piece;
    for (std::int64_t k = 0; k < ReadCache::most && cursor.next(piece); ++k)
        if (k >= first && !ahead.add(piece.size(), [&](char* to) {
                return ranges_of(space_, piece, sources, to);
            }))
            return;
}

}  // namespace thalweg::detail
