// Running a read.
//
// All ranks walk the same positions k = 0, 1, ...; at position k a rank (1) reads its piece k as a
// reader, unless it was read ahead, and starts to send other nodes their parts, (2) receives the
// parts of the pieces k that it receives for its node, (3) finishes its sends, (4) takes what it
// wants of every piece k. R being the number of slots, (1) and (2) wait until all ranks of the node
// have taken the pieces k - R. Nobody can wait forever: consider the smallest position m at which
// some rank stands. All pieces before m are taken, so (1) waits for nobody; (2) waits for sends
// that their readers, at m or later, start in (1); (3) waits for receivers, at m or later, to come
// to (2); (4) waits for (1) and (2) of ranks at m or later. Sends complete before a rank sleeps, as
// MPI may need its help.
//
// SPDX-License-Identifier: Apache-2.0
#include "exchange/scatter.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "comm/clock.hpp"
#include "comm/waiting.hpp"
#include "exchange/copy_runs.hpp"
#include "exchange/scatter_control.hpp"

namespace thalweg::detail {

namespace {

constexpr int parts_tag = 3;

/// Row-major strides in bytes of a dense box; returns its bytes.
std::int64_t dense_strides(const Box& box, std::int64_t element, Index& stride) {
    std::int64_t n = element;
    for (int d = box.nd - 1; d >= 0; --d) {
        stride[d] = n;
        n *= box.count[d];
    }
    return n;
}

/// Sleeps until the word counts beyond k.
void wait_beyond(Word& word, std::int64_t k, const char* what, double& seconds, Comm& comm) {
    std::uint32_t value = word.load(std::memory_order_acquire);
    if (value > k) return;
    const Waiting others(what);
    Stopwatch watch(seconds);
    do {
        wait_while(word, value, &comm);
        value = word.load(std::memory_order_acquire);
    } while (value <= k);
}

void count_to(Word& word, std::int64_t k) {
    word.store(static_cast<std::uint32_t>(k + 1), std::memory_order_release);
    wake_all(word);
}

}  // namespace

struct Scatter::Pass {
    std::span<const PlaceSource> sources;
    Source& source;
    const Shelf* shelf;
    Status status{};
    std::int64_t kept = 0;                    ///< own pieces from the first on that were read ahead
    std::optional<ReadAhead::Pause> pause{};  ///< while this rank reads itself
};

void Scatter::prepare(Team& team, Memory& arena) {
    new (reinterpret_cast<Control*>(arena.data()) + team.topology().node_rank) Control{};
}

Scatter::Control& Scatter::control(int place) const {
    return reinterpret_cast<Control*>(arena_->data())[place];
}

char* Scatter::slot(const Lane& lane, std::int64_t k) const {
    return lane.memory + (k % slots_) * capacity_;
}

/// Where a piece lies that is there.
const char* Scatter::filled_piece(const Pass& pass, const Lane& lane, std::int64_t k) const {
    if (!lane.local || control(lane.owner).kept.load(std::memory_order_relaxed) <= k)
        return slot(lane, k);
    const std::int64_t* table = pass.shelf->table(lane.owner);
    return reinterpret_cast<const char*>(table) + Shelf::data_at + table[k];
}

PieceCursor Scatter::pieces_of(int reader) const {
    return {space_, layout_->share(reader, space_, 0).extents(), piece_};
}

/// What is read of a piece to `to`.
std::vector<ReadRange> Scatter::ranges_of(Extent piece, std::span<const PlaceSource> sources,
                                          char* to) const {
    std::vector<ReadRange> ranges;
    for_places(space_, piece, [&](std::size_t place, ElementRange range) {
        const Place& p = space_.places[place];
        const PlaceSource& source = sources[place];
        ranges.push_back({source.variable, source.record, &source.part, source.first + range.begin,
                          range.end - range.begin,
                          to + (p.offset + range.begin * p.element - piece.begin)});
    });
    return ranges;
}

void Scatter::read_ahead(std::span<const PlaceSource> sources, std::int64_t first,
                         ReadAhead& ahead) const {
    if (own_ < 0) return;
    PieceCursor cursor = pieces_of(lanes_[own_].reader);
    Extent piece;
    for (std::int64_t k = 0; k < Shelf::most && cursor.next(piece); ++k)
        if (k >= first &&
            !ahead.add(piece.size(), [&](char* to) { return ranges_of(piece, sources, to); }))
            return;
}

/// Puts the own piece of position k on the table, if it was read ahead as were all before it.
bool Scatter::take_kept(Pass& pass, Extent piece, std::int64_t k, bool wait) {
    const Lane& lane = lanes_[own_];
    ReadAhead* ahead = pass.shelf == nullptr || k >= Shelf::most ? nullptr : pass.shelf->ahead;
    if (ahead == nullptr || pass.kept != k) return false;
    std::int64_t at = -1;
    try {
        at = ahead->take(ranges_of(piece, pass.sources, lane.memory), lane.memory, wait);
    } catch (const std::bad_alloc&) {  // then it is read
    }
    if (at < 0) return false;
    pass.shelf->table(lane.owner)[k] = at;
    ++pass.kept;
    control(lane.owner).kept.store(static_cast<std::uint32_t>(k + 1), std::memory_order_relaxed);
    return true;
}

/// Until the slots of position k are free.
void Scatter::wait_taken(std::int64_t k) {
    if (k < slots_) return;
    const auto members = static_cast<int>(team_.topology().members.size());
    for (int p = 0; p < members; ++p)
        wait_beyond(control(p).taken, k - slots_, "the node's ranks to take what was read",
                    counts_.wait, team_.world());
}

void Scatter::wait_filled(const Lane& lane, std::int64_t k) {
    Control& owner = control(lane.owner);
    if (lane.local)
        wait_beyond(owner.read, k, "a reader to read", counts_.wait, team_.world());
    else
        wait_beyond(owner.received, k, "other nodes to send what they read", counts_.wait,
                    team_.world());
}

void Scatter::read_piece(Pass& pass, const Lane& lane, std::int64_t k) {
    if (!pass.status.ok()) return;
    if (pass.shelf != nullptr && !pass.pause) pass.pause.emplace(pass.shelf->ahead);
    pass.status =
        alone([&] { return pass.source.read(ranges_of(lane.piece, pass.sources, slot(lane, k))); });
}

/// Whether any of the boxes, given by place, lies in a piece.
bool Scatter::meets(std::span<const std::vector<HeldBox>> boxes, Extent piece) const {
    bool any = false;
    for_places(space_, piece, [&](std::size_t place, ElementRange range) {
        if (!any)
            for_frames(space_.places[place].shape, range, boxes[place],
                       [&](const HeldBox& held, const Box& box) { any |= has_any(held, box); });
    });
    return any;
}

/// What another node wants of a piece: dense parts, in the order of for_places and for_parts; all
/// of it if that is less.
void Scatter::pack_parts(const Pass& pass, const Lane& lane, std::int64_t k, std::size_t node,
                         std::vector<char>& message) const {
    message.clear();
    const char* piece = filled_piece(pass, lane, k);
    for_places(space_, lane.piece, [&](std::size_t place, ElementRange range) {
        const Place& p = space_.places[place];
        const RowKernel kernel = move_kernel(p.element);
        const Index from_stride = byte_strides(p);
        const char* from = piece + p.offset - lane.piece.begin;
        for_parts(p.shape, range, remote_[node][place], [&](const HeldBox&, const Box& part) {
            Index stride{};
            const std::int64_t bytes = dense_strides(part, p.element, stride);
            const std::size_t at = message.size();
            message.resize(at + bytes);
            copy_box(part.nd, part.count, message.data() + at, stride,
                     from + linear(p.shape, part.low) * p.element, from_stride, kernel, nullptr);
        });
    });
    if (static_cast<std::int64_t>(message.size()) > lane.piece.size())
        message.assign(piece, piece + lane.piece.size());
}

/// Whether the parts of a piece from another node would be more than the piece.
bool Scatter::comes_whole(const Lane& lane) const {
    if (lane.local || !overlaps_ || lane.piece.size() <= 0) return false;
    std::int64_t bytes = 0;
    for_places(space_, lane.piece, [&](std::size_t place, ElementRange range) {
        const Place& p = space_.places[place];
        for_parts(p.shape, range, cover_[place],
                  [&](const HeldBox&, const Box& part) { bytes += part.volume() * p.element; });
    });
    return bytes > lane.piece.size();
}

/// One message to every other node that wants something of the piece.
void Scatter::send_parts(Pass& pass, const Lane& lane, std::int64_t k) {
    const Topology& topology = team_.topology();
    // Pairwise order (CAM, section 3.1): in round m node i sends to node i + m.
    for (int m = 1; m < topology.nodes; ++m) {
        const std::size_t node = (topology.node + m) % topology.nodes;
        if (remote_[node].empty() || !meets(remote_[node], lane.piece)) continue;
        std::vector<char>& message = outgoing_[node];
        const Status packed = alone([&]() -> Status {
            Stopwatch watch(counts_.pack);
            pack_parts(pass, lane, k, node, message);
            return {};
        });
        if (!packed.ok()) {  // the others wait for a message, whatever is in it
            message.clear();
            if (pass.status.ok()) pass.status = packed;
        }
        const int place = lane.reader % topology.sizes[node];
        sends_.push_back(team_.world().start_send(message.data(), message.size(),
                                                  topology.rank_of(node, place), parts_tag));
        ++counts_.messages;
        counts_.message_bytes += message.size();
    }
}

void Scatter::receive_parts(const Lane& lane, std::int64_t k) {
    if (lane.piece.size() <= 0 || !meets(cover_, lane.piece)) return;
    const Waiting others("other nodes to send what they read");
    Stopwatch watch(counts_.move);
    team_.world().receive(slot(lane, k), capacity_, lane.rank, parts_tag);
}

/// Of a piece that lies in the slot as in the file.
void Scatter::take_whole(Pass& pass, const Lane& lane, std::int64_t k) {
    const char* piece = nullptr;  // known when it is there
    for_places(space_, lane.piece, [&](std::size_t place, ElementRange range) {
        const Place& p = space_.places[place];
        const Index stride = byte_strides(p);
        const std::int64_t begin = p.offset - lane.piece.begin;
        for (Delivery* delivery = first_of_[place]; delivery; delivery = delivery->other) {
            char fill[8];
            default_fill(delivery->array.type, fill);
            for_frames(p.shape, range, delivery->boxes, [&](const WantedBox& wanted, const Box& b) {
                if (!has_any(wanted, b)) return;
                if (piece == nullptr) {
                    wait_filled(lane, k);
                    piece = filled_piece(pass, lane, k);
                }
                deliver(*delivery, wanted, b, piece + begin + linear(p.shape, b.low) * p.element,
                        stride, fill);
            });
        }
    });
}

void Scatter::take_incoming(const Lane& lane, std::int64_t k) {
    const char* from = slot(lane, k);
    for_places(space_, lane.piece, [&](std::size_t place, ElementRange range) {
        const Place& p = space_.places[place];
        for_parts(p.shape, range, cover_[place], [&](const HeldBox&, const Box& part) {
            Index stride{};
            const std::int64_t bytes = dense_strides(part, p.element, stride);
            for (Delivery* delivery = first_of_[place]; delivery; delivery = delivery->other) {
                char fill[8];
                default_fill(delivery->array.type, fill);
                for (const WantedBox& wanted : delivery->boxes) {
                    Box common;
                    if (!intersect(part, wanted.box, common) || !has_any(wanted, common)) continue;
                    wait_filled(lane, k);
                    std::int64_t at = 0;
                    for (int d = 0; d < part.nd; ++d)
                        at += (common.low[d] - part.low[d]) * stride[d];
                    deliver(*delivery, wanted, common, from + at, stride, fill);
                }
            }
            from += bytes;
        });
    });
}

void Scatter::take(Pass& pass, const Lane& lane, std::int64_t k) {
    if (lane.piece.size() <= 0) return;
    const double begin = now(), waited = counts_.wait;
    if (lane.local || lane.whole)
        take_whole(pass, lane, k);
    else
        take_incoming(lane, k);
    counts_.pack += now() - begin - (counts_.wait - waited);
}

/// What is there already comes first, the own piece before all, while it is in cache.
void Scatter::take_pieces(Pass& pass, std::int64_t k) {
    const std::size_t first = own_ < 0 ? 0 : static_cast<std::size_t>(own_);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        Lane& lane = lanes_[(first + i) % lanes_.size()];
        const Control& owner = control(lane.owner);
        const Word& filled = lane.local ? owner.read : owner.received;
        lane.later = filled.load(std::memory_order_acquire) <= k;
        if (!lane.later) take(pass, lane, k);
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const Lane& lane = lanes_[(first + i) % lanes_.size()];
        if (lane.later) take(pass, lane, k);
    }
}

Status Scatter::run(std::span<const PlaceSource> sources, std::span<Delivery> deliveries,
                    Source& source, const Shelf* shelf) {
    // From here to the end a rank takes memory for reading and for messages alone, and goes on if
    // there is none: the others wait for it.
    Pass pass{sources, source, shelf};
    std::fill(first_of_.begin(), first_of_.end(), nullptr);
    for (Delivery& d : deliveries) d.other = std::exchange(first_of_[d.place], &d);
    const int me = team_.topology().node_rank;
    if (own_ >= 0) {  // so that the others do not wait for data that are already available
        PieceCursor& cursor = lanes_[own_].cursor;
        cursor.rewind();
        Extent piece;
        while (cursor.next(piece) && take_kept(pass, piece, pass.kept, false)) continue;
        if (pass.kept > 0) count_to(control(me).read, pass.kept - 1);
    }
    for (Lane& lane : lanes_) lane.cursor.rewind();
    for (std::int64_t k = 0;; ++k) {
        bool any = false, receives = false;
        for (Lane& lane : lanes_) {
            if (!lane.cursor.next(lane.piece)) lane.piece = {};
            lane.whole = comes_whole(lane);
            any |= lane.piece.size() > 0;
            receives |= !lane.local && lane.owner == me;
        }
        if (!any) break;
        const bool reads = own_ >= 0 && lanes_[own_].piece.size() > 0;
        if (reads && k >= pass.kept) {
            const Lane& lane = lanes_[own_];
            if (!take_kept(pass, lane.piece, k, true)) {
                wait_taken(k);
                read_piece(pass, lane, k);
            }
            count_to(control(me).read, k);
        }
        if (receives) wait_taken(k);
        if (reads && !remote_.empty()) send_parts(pass, lanes_[own_], k);
        if (receives) {
            for (const Lane& lane : lanes_)
                if (!lane.local && lane.owner == me) receive_parts(lane, k);
            count_to(control(me).received, k);
        }
        if (!sends_.empty()) {
            const Waiting others("other nodes to receive what was read");
            Stopwatch watch(counts_.move);
            team_.world().finish(sends_);
        }
        take_pieces(pass, k);
        count_to(control(me).taken, k);
    }
    end_streams();
    return pass.status;
}

}  // namespace thalweg::detail
