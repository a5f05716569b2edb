// Running a stream.
//
// All ranks walk the same positions k = 0, 1, ...; at position k a rank (1) sends the pieces k - R
// that its node has for other nodes, (2) as a writer completes and writes its piece k - R, (3)
// packs its part of every piece k, R being the number of slots. Nobody can wait forever: consider
// the smallest position at which some rank stands. All pieces k - R are packed by then, so what (1)
// and (2) wait for is sent or packed by ranks at k or later; and the slots that (3) waits for are
// free once (1) and (2) are done at k. Sends complete before a rank sleeps, as MPI may need its
// help.
//
// SPDX-License-Identifier: Apache-2.0
#include "exchange/stream.hpp"

#include <algorithm>
#include <cstring>

#include "comm/clock.hpp"
#include "comm/reserve.hpp"
#include "comm/trace.hpp"
#include "comm/waiting.hpp"
#include "exchange/copy_runs.hpp"
#include "exchange/dense.hpp"
#include "exchange/pieces.hpp"
#include "exchange/stream_control.hpp"

namespace thalweg::detail {

namespace {

constexpr int piece_tag = 2;

/// -1 in the space of fixed-size variables.
std::int64_t record_in(const Definitions& definitions, const Space& space, std::int64_t record) {
    const std::size_t first = space.places.front().variable;
    return definitions.variables[first].record ? record : -1;
}

/// Precedes what one rank has in a message.
struct NodePart {
    std::int64_t place;  ///< of the rank in its node
    std::int64_t bytes;
};

std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

struct Stream::Pass {
    const Space& space;
    std::int64_t base;
    std::int64_t record;
    std::span<const Action> actions;
    std::span<const ArrayView* const> arrays;
    Storage& storage;
    std::span<std::int64_t> misfits;
    std::vector<char> wanted;  ///< of each place
    Status status;
};

char* Stream::slot(const Lane& lane, std::int64_t piece) const {
    return lane.memory + (piece % slots_) * capacity_;
}

void Stream::wait_free(Lane& lane, std::int64_t k) {
    Word& ready = lane.control->ready;
    std::uint32_t value = ready.load(std::memory_order_acquire);
    if (value > k) return;
    const Waiting writer("the writer to free a slot");
    Stopwatch watch(counts_.wait);
    do {
        wait_while(ready, value, &team_.world());
        value = ready.load(std::memory_order_acquire);
    } while (value <= k);
}

void Stream::wait_packed(Lane& lane, std::int64_t k) {
    Word& packed = lane.control->slots[k % slots_].packed;
    const auto members = static_cast<std::uint32_t>(team_.topology().members.size());
    std::uint32_t value = packed.load(std::memory_order_acquire);
    if (value == members) return;
    const Waiting ranks("the node's ranks to pack");
    Stopwatch watch(counts_.wait);
    do {
        wait_while(packed, value, &team_.world());
        value = packed.load(std::memory_order_acquire);
    } while (value != members);
}

void Stream::announce(Lane& lane, std::int64_t k) {
    Word& packed = lane.control->slots[k % slots_].packed;
    const auto members = static_cast<std::uint32_t>(team_.topology().members.size());
    if (packed.fetch_add(1, std::memory_order_acq_rel) + 1 == members && !lane.mine)
        wake_all(packed);
}

/// Hands the slot of piece k, empty again, to those who pack.
void Stream::release(Lane& lane, std::int64_t k) {
    Control::Slot& s = lane.control->slots[k % slots_];
    s.packed.store(0, std::memory_order_relaxed);
    s.used.store(0, std::memory_order_relaxed);
    lane.control->ready.store(static_cast<std::uint32_t>(k + 1), std::memory_order_release);
    if (team_.topology().members.size() > 1) wake_all(lane.control->ready);
}

/// Copies this rank's elements of a place. Into a slot they go to their place in the piece; into a
/// message (`dense`) one part after the other, *used counting the bytes.
void Stream::pack_place(Pass& pass, const Share& share, std::size_t place, ElementRange range,
                        char* to, std::int64_t piece_begin, bool dense, std::int64_t* used) {
    const Place& p = share.space().places[place];
    const ArrayView* array = pass.arrays[place];
    const std::size_t variable = p.variable;
    const View& view = views_[view_of_[variable]];
    const Variable& v = definitions_->variables[variable];
    const RowKernel kernel = pack_kernel(array->type, v.type, order_);
    Index file_stride = strides_of(p.shape);
    for (std::size_t d = 0; d < p.shape.size(); ++d) file_stride[d] *= p.element;
    for_frames(share, place, range, view.own, [&](const HeldBox& held, const Box& part) {
        Strided from = locate(*view.decomposition, view.order, held, *array);
        for (int d = 0; d < part.nd; ++d)
            if (!held.list || !held.list->covers(d))
                from.base += (part.low[d] - held.box.low[d]) * from.stride[d];
        char* at;
        Index stride = file_stride;
        if (dense) {
            at = to + *used;
            *used += dense_strides(part.nd, dense_shape(held, part), p.element, stride);
        } else {
            at = to + (p.offset + share.position(place, part.low) * p.element - piece_begin);
        }
        const char* const fill = fill_[variable].data();
        pass.misfits[variable] +=
            held.list ? copy_runs(*held.list, part,
                                  {dense ? RunOrder::dense : RunOrder::indices, at, stride},
                                  {RunOrder::positions, from.base, from.stride}, kernel, fill)
                      : packers_.copy_box(part.nd, part.count, at, stride, from.base, from.stride,
                                          kernel, fill);
    });
}

void Stream::pack_local(Pass& pass, Lane& lane, std::int64_t k) {
    const Extent piece = lane.recent[k % slots_];
    if (piece.size() <= 0) return;
    wait_free(lane, k);
    {
        Span span("pack");
        span.record(record_in(*definitions_, pass.space, pass.record));
        if (span) span.bytes(bytes_in(pass, lane.share, piece));
        Stopwatch watch(counts_.pack);
        char* to = slot(lane, k);
        for_places(lane.share.space(), piece, [&](std::size_t place, ElementRange range) {
            if (pass.actions[place] == Action::data && pass.arrays[place] != nullptr)
                pack_place(pass, lane.share, place, range, to, piece.begin, false, nullptr);
        });
    }
    announce(lane, k);
}

std::int64_t Stream::bytes_in(Pass& pass, const Share& share, Extent piece) const {
    std::int64_t bytes = 0;
    for_places(share.space(), piece, [&](std::size_t place, ElementRange range) {
        if (pass.actions[place] != Action::data || pass.arrays[place] == nullptr) return;
        const Place& p = pass.space.places[place];
        const View& view = views_[view_of_[p.variable]];
        for_frames(share, place, range, view.own, [&](const HeldBox& held, const Box& part) {
            Index stride{};
            bytes += dense_strides(part.nd, dense_shape(held, part), p.element, stride);
        });
    });
    return bytes;
}

void Stream::pack_outgoing(Pass& pass, Lane& lane, std::int64_t k) {
    const Extent piece = lane.recent[k % slots_];
    if (piece.size() <= 0) return;
    wait_free(lane, k);
    {
        Span span("pack");
        span.record(record_in(*definitions_, pass.space, pass.record));
        Stopwatch watch(counts_.pack);
        const std::int64_t bytes = bytes_in(pass, lane.share, piece);
        span.bytes(bytes);
        if (bytes > 0) {
            const auto length = static_cast<std::int64_t>(sizeof(NodePart)) + rounded(bytes);
            Word& used = lane.control->slots[k % slots_].used;
            char* at = slot(lane, k) + used.fetch_add(static_cast<std::uint32_t>(length),
                                                      std::memory_order_acq_rel);
            const NodePart section{team_.topology().node_rank, bytes};
            std::memcpy(at, &section, sizeof section);
            std::int64_t packed = 0;
            for_places(lane.share.space(), piece, [&](std::size_t place, ElementRange range) {
                if (pass.actions[place] == Action::data && pass.arrays[place] != nullptr)
                    pack_place(pass, lane.share, place, range, at + sizeof section, 0, true,
                               &packed);
            });
        }
    }
    announce(lane, k);
}

void Stream::prefill(Pass& pass, Lane& lane, Extent piece, std::int64_t k) {
    prefill_piece(lane.share.space(), piece, slot(lane, k), fill_, [&](std::size_t place) {
        const std::size_t variable = pass.space.places[place].variable;
        return pass.actions[place] == Action::data &&
               views_[view_of_[variable]].decomposition->whole;
    });
}

void Stream::prepare() {
    for (Lane& lane : lanes_) {
        if (!lane.mine) continue;
        lane.control->ready.store(0, std::memory_order_relaxed);
        for (Control::Slot& s : lane.control->slots) {
            s.packed.store(0, std::memory_order_relaxed);
            s.used.store(0, std::memory_order_relaxed);
        }
    }
}

void Stream::begin_lane(Pass& pass, Lane& lane) {
    lane.share = layout_->share(lane.writer, pass.space, pass.base);
    lane.cursor = PieceCursor(lane.share.space(), wanted_of(lane.share, pass.wanted), piece_);
}

/// Copies a message's sections into the piece.
void Stream::unpack(Pass& pass, const Share& share, int node, std::span<const char> message,
                    Extent piece, char* to) {
    const Topology& topology = team_.topology();
    for (std::size_t at = 0; at + sizeof(NodePart) <= message.size();) {
        NodePart section;
        std::memcpy(&section, message.data() + at, sizeof section);
        at += sizeof section;
        const char* from = message.data() + at;
        const int rank = topology.rank_of(node, static_cast<int>(section.place));
        for_places(share.space(), piece, [&](std::size_t place, ElementRange range) {
            if (pass.actions[place] != Action::data) return;
            const Place& p = share.space().places[place];
            const View& view = views_[view_of_[p.variable]];
            const auto boxes = view.remote.find(rank);
            if (boxes == view.remote.end()) return;
            Index file_stride = strides_of(p.shape);
            for (std::size_t d = 0; d < p.shape.size(); ++d) file_stride[d] *= p.element;
            const RowKernel kernel = move_kernel(p.element);
            for_frames(
                share, place, range, boxes->second, [&](const HeldBox& held, const Box& part) {
                    Index stride{};
                    const std::int64_t n =
                        dense_strides(part.nd, dense_shape(held, part), p.element, stride);
                    char* const into =
                        to + (p.offset + share.position(place, part.low) * p.element - piece.begin);
                    if (held.list)
                        copy_runs(*held.list, part, {RunOrder::indices, into, file_stride},
                                  {RunOrder::dense, from, stride}, kernel, nullptr);
                    else
                        copy_box(part.nd, part.count, into, file_stride, from, stride, kernel,
                                 nullptr);
                    from += n;
                });
        });
        at += rounded(section.bytes);
    }
}

/// One message from every other node that has elements of the piece.
void Stream::receive_pieces(Pass& pass, Lane& lane, Extent piece, std::int64_t k) {
    const Topology& topology = team_.topology();
    if (topology.nodes == 1) return;
    std::set<int> sources;
    const auto find = [&](std::size_t place, ElementRange range) {
        if (pass.actions[place] != Action::data) return;
        const View& view = views_[view_of_[pass.space.places[place].variable]];
        for (const auto& [rank, boxes] : view.remote) {
            const int node = topology.node_of[rank];
            if (sources.count(node) != 0) continue;
            for_frames(lane.share, place, range, boxes, [&](const HeldBox& held, const Box& box) {
                if (sources.count(node) == 0 && has_any(held, box)) sources.insert(node);
            });
        }
    };
    with_reserve([&] { for_places(lane.share.space(), piece, find); });
    if (sources.empty()) return;
    const Waiting others("other nodes to send their parts");
    Stopwatch watch(counts_.move);
    // Pairwise order (CAM, section 3.1): in round m node i receives from node i - m.
    for (int m = 1; m < topology.nodes; ++m) {
        const int node = (topology.node - m + topology.nodes) % topology.nodes;
        if (sources.count(node) == 0) continue;
        const int place = lane.writer % topology.sizes[node];
        const int sender = topology.rank_of(node, place);
        Span span("receive");
        const std::size_t n =
            team_.world().receive(received_.data(), received_.size(), sender, piece_tag);
        span.bytes(n);
        unpack(pass, lane.share, node, {received_.data(), n}, piece, slot(lane, k));
    }
}

Status Stream::write_piece(Pass& pass, Lane& lane, Extent piece, std::int64_t k) {
    std::vector<Chunk> chunks;
    const auto cut = [&] {
        boxes_.clear();
        chunks =
            chunks_of(lane.share, pass.space, piece, slot(lane, k), pass.base, pass.record, boxes_);
    };
    if (piece.size() > 0) with_reserve(cut);
    if (!pass.storage.collective() && (chunks.empty() || !pass.status.ok())) return {};
    const Waiting system(the_file_system);
    return alone([&] { return pass.storage.write(chunks); });
}

/// Pieces of the longest of all streams: writers that write together write equally often.
std::int64_t Stream::most_pieces() {
    std::int64_t n = 0;
    if (own_ >= 0) {
        PieceCursor& cursor = lanes_[own_].cursor;
        for (Extent piece; cursor.next(piece);) ++n;
        cursor.rewind();
    }
    team_.all_reduce({&n, 1}, Reduce::max);
    return n;
}

/// Sends the pieces k - R that this rank drains for writers of other nodes.
void Stream::send_pieces(std::int64_t k, std::vector<MPI_Request>& sends) {
    for (Lane& lane : lanes_) {
        if (lane.local || !lane.mine || k < slots_ || lane.recent[k % slots_].size() <= 0) continue;
        wait_packed(lane, k - slots_);
        const std::uint32_t used =
            lane.control->slots[k % slots_].used.load(std::memory_order_acquire);
        if (used == 0) continue;
        Span span("send");
        span.bytes(used);
        sends.push_back(
            team_.world().start_send(slot(lane, k - slots_), used, lane.rank, piece_tag));
        ++counts_.messages;
        counts_.message_bytes += used;
    }
}

/// Completes and writes this writer's piece k - R.
/// @param calls  writes that a collective storage takes from every writer
void Stream::drain_own(Pass& pass, std::int64_t k, std::int64_t calls) {
    if (own_ < 0 || k < slots_) return;
    Lane& lane = lanes_[own_];
    const Extent piece = lane.recent[k % slots_];
    if (piece.size() > 0) {
        wait_packed(lane, k - slots_);
        receive_pieces(pass, lane, piece, k - slots_);
    } else if (!pass.storage.collective() || k - slots_ >= calls) {
        return;
    }
    Status status = write_piece(pass, lane, piece, k - slots_);
    if (pass.status.ok()) pass.status = std::move(status);
}

/// The pieces k enter; their slots are freed by those who drained them.
/// @return whether there are any
bool Stream::enter_pieces(Pass& pass, std::int64_t k) {
    bool any = false;
    for (Lane& lane : lanes_) {
        Extent piece;
        if (!lane.cursor.next(piece)) piece = {};
        Extent& recent = lane.recent[k % slots_];
        const bool had = recent.size() > 0 && k >= slots_;
        recent = piece;
        any |= piece.size() > 0;
        if (!lane.mine || (piece.size() <= 0 && !had)) continue;
        if (lane.local && piece.size() > 0) prefill(pass, lane, piece, k);
        release(lane, k);
    }
    return any;
}

Status Stream::run(const Space& space, std::int64_t base, std::int64_t record,
                   std::span<const Action> actions, std::span<const ArrayView* const> arrays,
                   Storage& storage, std::span<std::int64_t> misfits) {
    Pass pass{space, base, record, actions, arrays, storage, misfits, {}, {}};
    std::vector<MPI_Request> sends;
    const auto begin = [&] {
        pass.wanted.clear();
        for (const Action action : actions) pass.wanted.push_back(action != Action::skip);
        if (extents_of(space, pass.wanted).empty()) return false;
        for (Lane& lane : lanes_) begin_lane(pass, lane);
        sends.reserve(lanes_.size());
        return true;
    };
    if (!with_reserve(begin)) return {};
    const std::int64_t calls = storage.collective() ? most_pieces() : -1;
    std::int64_t last = -1;  // position at which some lane of this node had a piece
    for (std::int64_t k = 0; k <= std::max(last + slots_, calls + slots_); ++k) {
        send_pieces(k, sends);
        drain_own(pass, k, calls);
        if (!sends.empty()) {
            const Waiting writers("writers of other nodes to receive");
            Stopwatch watch(counts_.move);
            team_.world().finish(sends);
        }
        if (enter_pieces(pass, k)) last = k;
        for (Lane& lane : lanes_)
            if (lane.local) pack_local(pass, lane, k);
        for (Lane& lane : lanes_)
            if (!lane.local) pack_outgoing(pass, lane, k);
    }
    for (Lane& lane : lanes_) {
        std::fill(lane.recent.begin(), lane.recent.end(), Extent{});
        if (lane.mine) lane.control->ready.store(0, std::memory_order_release);
    }
    return pass.status;
}

}  // namespace thalweg::detail
