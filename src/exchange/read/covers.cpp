// SPDX-License-Identifier: Apache-2.0
#include "exchange/read/covers.hpp"

#include <algorithm>
#include <map>

#include "base/words.hpp"
#include "comm/node_exchange.hpp"
#include "exchange/held_words.hpp"
#include "exchange/pack/copy.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/read/delivery.hpp"

namespace thalweg::detail {

namespace {

/// Appends the parts of `box` that lie outside `hole`. The two boxes overlap.
void subtract(Box box, const Box& hole, std::vector<Box>& to) {
    for (int d = 0; d < box.nd; ++d) {
        const std::int64_t before = hole.low[d] - box.low[d];
        if (before > 0) {
            Box part = box;
            part.count[d] = before;
            to.push_back(part);
        }
        const std::int64_t after = box.low[d] + box.count[d] - hole.low[d] - hole.count[d];
        if (after > 0) {
            Box part = box;
            part.low[d] = hole.low[d] + hole.count[d];
            part.count[d] = after;
            to.push_back(part);
        }
        box.low[d] = hole.low[d];
        box.count[d] = hole.count[d];
    }
}

/// Returns the smallest box that contains all of several boxes and lists.
Box enclose(std::span<const HeldBox> all) {
    Box result = all.front().box;
    for (const HeldBox& held : all)
        for (int d = 0; d < result.nd; ++d) {
            const std::int64_t low = std::min(result.low[d], held.box.low[d]);
            result.count[d] =
                std::max(result.low[d] + result.count[d], held.box.low[d] + held.box.count[d]) -
                low;
            result.low[d] = low;
        }
    return result;
}

/// Returns boxes that share no element and together contain all the given ones, sorted by position.
/// Halos and replicated variables make boxes overlap, but a node needs each element once. Lists of
/// the same dimensions are united as well. A list can share elements with boxes, and with lists of
/// other dimensions; if there are such, the result is one box that contains all.
std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape) {
    std::vector<HeldBox> result;
    std::map<std::vector<int>, std::vector<std::shared_ptr<const Listing>>> lists;
    for (const HeldBox& given : boxes) {
        if (given.list) {
            lists[given.list->dims].push_back(given.list);
            continue;
        }
        std::vector<Box> left{given.box};
        for (std::size_t i = 0; i < result.size() && !left.empty(); ++i) {
            if (result[i].last < given.first || result[i].first > given.last) continue;
            std::vector<Box> rest;
            for (const Box& box : left) {
                Box common;
                if (intersect(box, result[i].box, common))
                    subtract(box, common, rest);
                else
                    rest.push_back(box);
            }
            left = std::move(rest);
        }
        for (const Box& box : left) result.push_back(held_box(box, shape));
    }
    const bool apart = lists.size() + (result.empty() ? 0 : 1) <= 1;
    for (const auto& [dims, same] : lists) result.push_back(held_list(unite(same), shape));
    if (!apart) return {held_box(enclose(result), shape)};
    std::sort(result.begin(), result.end(),
              [](const HeldBox& a, const HeldBox& b) { return a.first < b.first; });
    return result;
}

/// Adds the boxes of a message.
void add_boxes(std::span<const char> bytes, const FileSection& space, PlaceBoxes& boxes) {
    for_boxes(
        to_words(bytes), [&](int place) -> auto& { return space.places[place].shape; },
        [&](int place, HeldBox held) { boxes[place].push_back(std::move(held)); });
}

}  // namespace

Status Covers::gather(Team& team, const std::vector<std::vector<WantedBox>>& wanted) {
    std::vector<char> mine, together;
    Status status = catch_errors([&] {
        std::vector<std::int64_t> words;
        for (std::size_t p = 0; p < wanted.size(); ++p) {
            std::vector<HeldBox> boxes(wanted[p].begin(), wanted[p].end());
            for (HeldBox& held : boxes)  // list an index only once, even if several ranks want it
                if (held.list) held.list = unite({&held.list, 1});
            append_boxes(words, p, boxes);
        }
        mine = to_bytes(words);
    });
    // A rank without memory takes part with an empty message.
    const auto all = team.node().gather(mine, 0);
    const auto unite_all = [&] {
        PlaceBoxes boxes(space_.places.size());
        for (const std::vector<char>& bytes : all) add_boxes(bytes, space_, boxes);
        std::vector<std::int64_t> words;
        for (std::size_t p = 0; p < boxes.size(); ++p)
            append_boxes(words, p, cover(boxes[p], space_.places[p].shape));
        together = to_bytes(words);
    };
    if (team.topology().node_rank == 0 && status.ok()) status = catch_errors(unite_all);
    team.node().broadcast(together, 0);
    if (!status.ok()) return status;
    return catch_errors([&] {
        own_.resize(space_.places.size());
        add_boxes(together, space_, own_);
    });
}

/// Returns the elements of the cover near a reader's share: all boxes, and of lists only the runs
/// that meet the share.
std::vector<HeldBox> Covers::near(const Share& share, std::size_t place) const {
    std::vector<HeldBox> result;
    for (const HeldBox& held : own_[place]) {
        std::vector<Box> frames;
        if (held.list) add_frames(share, place, held, frames);
        if (!held.list || !frames.empty()) result.push_back(held_near(held, frames));
    }
    return result;
}

/// Makes the messages in which the first rank of this node tells readers on other nodes what the
/// node needs.
std::vector<Packet> Covers::tell(const Topology& topology, const Layout& layout,
                                 const std::vector<int>& readers, std::set<int>& met) const {
    std::map<int, std::vector<std::int64_t>> words;  // message to each reader, by the reader's rank
    for (std::size_t p = 0; p < own_.size(); ++p) {
        std::set<int> met_here;
        for (const HeldBox& held : own_[p]) layout.add_writers(space_, p, held.box, met_here);
        met.insert(met_here.begin(), met_here.end());
        if (topology.node_rank != 0) continue;
        for (const int reader : met_here) {
            const int rank = readers[reader];
            if (topology.node_of[rank] != topology.node)
                append_boxes(words[rank], p, near(layout.share(reader, space_, 0), p));
        }
    }
    std::vector<Packet> packets;
    for (const auto& [rank, list] : words) packets.push_back({rank, to_bytes(list)});
    return packets;
}

Status Covers::exchange(Team& team, const Layout& layout, const std::vector<int>& readers,
                        std::set<int>& met) {
    const Topology& topology = team.topology();
    std::vector<Packet> packets;
    const Status status = catch_errors([&] { packets = tell(topology, layout, readers, met); });
    // A rank without memory takes part with no messages.
    bool have = true;
    packets = exchange_by_nodes(team, packets, have);
    if (!status.ok()) return status;
    if (!have) return out_of_memory();
    return catch_errors([&] {
        remote_.resize(topology.nodes);
        for (const Packet& packet : packets) {
            PlaceBoxes& boxes = remote_[topology.node_of[packet.rank]];
            boxes.resize(space_.places.size());
            add_boxes(packet.bytes, space_, boxes);
        }
    });
}

/// Tests if any of the boxes has elements in a piece.
bool Covers::meets(const PlaceBoxes& boxes, Extent piece) const {
    bool any = false;
    for (const auto& [place, range] : places_in(space_, piece)) {
        if (!any)
            for_frames(space_.places[place].shape, range, boxes[place],
                       [&](const HeldBox& held, const Box& box) { any |= has_any(held, box); });
    }
    return any;
}

void Covers::pack(int node, Extent piece, const char* from, std::vector<char>& message) const {
    message.clear();
    for (const auto& [place, range] : places_in(space_, piece)) {
        const VariableSlot& p = space_.places[place];
        const RowKernel kernel = move_kernel(p.element);
        const Index from_stride = byte_strides(p);
        const std::int64_t begin = p.offset - piece.begin;
        for_parts(p.shape, range, remote_[node][place], [&](const HeldBox&, const Box& part) {
            Index stride{};
            const std::int64_t bytes = dense_strides(part.nd, part.count, p.element, stride);
            const std::size_t at = message.size();
            message.resize(at + bytes);
            copy_box(part.nd, part.count, message.data() + at, stride,
                     from + (begin + linear(p.shape, part.low) * p.element), from_stride, kernel,
                     nullptr);
        });
    }
}

}  // namespace thalweg::detail
