// Planning a read: lanes, and what other nodes want.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/node_exchange.hpp"
#include "comm/words.hpp"
#include "exchange/cover.hpp"
#include "exchange/held_words.hpp"
#include "exchange/scatter_control.hpp"

namespace thalweg::detail {

namespace {

/// With the slots of all readers under way the data stay in the last level of cache.
constexpr std::int64_t default_scatter_piece = std::int64_t(1) << 20;
constexpr std::int64_t smallest_scatter_piece = 64;
constexpr std::int64_t largest_scatter_piece = std::int64_t(1) << 30;  // MPI counts are 32-bit

/// A piece ends up to an element later than it should; slots begin at multiples of 64.
constexpr std::int64_t scatter_slack = 128;

/// Boxes of places as words: place, number of boxes, and the boxes.
void append(std::vector<std::int64_t>& words, std::size_t place, std::span<const HeldBox> boxes) {
    words.push_back(place);
    words.push_back(boxes.size());
    for (const HeldBox& held : boxes) append_held(words, held);
}

/// Calls visit(place, box) for all boxes in the words.
template <class Visit>
void for_words(std::span<const std::int64_t> words, const Space& space, Visit&& visit) {
    for (const std::int64_t *at = words.data(), *end = at + words.size(); at != end;) {
        const std::size_t place = at[0];
        const std::int64_t n = at[1];
        at += 2;
        for (std::int64_t b = 0; b < n; ++b)
            visit(place, parse_held(at, space.places[place].shape));
    }
}

}  // namespace

std::unique_ptr<Scatter> Scatter::make(Team& team, Memory& arena, Space&& space,
                                       std::vector<std::vector<WantedBox>>&& wanted,
                                       const std::vector<int>& readers,
                                       const StreamOptions& options, Status& status) {
    std::unique_ptr<Scatter> scatter;
    status = alone([&]() -> Status {
        scatter.reset(new Scatter(team));
        scatter->arena_ = &arena;
        scatter->readers_ = readers;
        scatter->space_ = std::move(space);
        scatter->layout_ = make_record_layout(readers.size(), 1);
        return {};
    });
    std::set<int> met;
    if (team.topology().nodes > 1) {
        if (status = team.agree(status); !status.ok()) return nullptr;
        // What a node's collectives throw, they throw on its ranks only.
        status = team.agree(alone([&] { return scatter->cover_node(wanted); }));
        if (!status.ok()) return nullptr;
        status = scatter->exchange_covers(met);
    }
    if (status.ok()) status = alone([&] { return scatter->add_lanes(met); });
    if (status = team.agree(status); !status.ok()) return nullptr;
    status = team.agree(scatter->share_arena(options));
    if (!status.ok()) return nullptr;
    return scatter;
}

/// What the ranks of this node want together, known to all of them.
Status Scatter::cover_node(const std::vector<std::vector<WantedBox>>& wanted) {
    std::vector<char> mine, together;
    Status status = alone([&]() -> Status {
        std::vector<std::int64_t> words;
        for (std::size_t p = 0; p < wanted.size(); ++p) {
            std::vector<HeldBox> boxes(wanted[p].begin(), wanted[p].end());
            for (HeldBox& held : boxes)  // list an index that is wanted twice only once
                if (held.list) held.list = unite({&held.list, 1});
            append(words, p, boxes);
        }
        mine = to_bytes(words);
        return {};
    });
    // Who has no memory takes part with nothing.
    const auto all = team_.node().gather(mine, 0);
    const auto unite_all = [&]() -> Status {
        std::vector<std::vector<HeldBox>> boxes(space_.places.size());
        for (const std::vector<char>& bytes : all)
            for_words(to_words(bytes), space_,
                      [&](std::size_t p, const HeldBox& held) { boxes[p].push_back(held); });
        std::vector<std::int64_t> words;
        for (std::size_t p = 0; p < boxes.size(); ++p)
            append(words, p, cover(boxes[p], space_.places[p].shape));
        together = to_bytes(words);
        return {};
    };
    if (team_.topology().node_rank == 0 && status.ok()) status = alone(unite_all);
    team_.node().broadcast(together, 0);
    if (!status.ok()) return status;
    return alone([&]() -> Status {
        cover_.assign(space_.places.size(), {});
        for_words(to_words(together), space_,
                  [&](std::size_t p, const HeldBox& held) { cover_[p].push_back(held); });
        for (const std::vector<HeldBox>& boxes : cover_)
            overlaps_ |= boxes.size() > 1 &&
                         std::any_of(boxes.begin(), boxes.end(),
                                     [](const HeldBox& held) { return held.list != nullptr; });
        return {};
    });
}

/// What of the cover a reader's share meets; of boxes all.
std::vector<HeldBox> Scatter::cover_near(int reader, std::size_t place) const {
    const Share share = layout_->share(reader, space_, 0);
    std::vector<HeldBox> result;
    for (const HeldBox& held : cover_[place]) {
        std::vector<Box> frames;
        if (held.list) add_frames(share, place, held, frames);
        if (!held.list || !frames.empty()) result.push_back(held_near(held, frames));
    }
    return result;
}

/// A reader must know what other nodes want of its share: told once, to the readers met and to no
/// one else. `met` receives the readers that this node meets.
Status Scatter::exchange_covers(std::set<int>& met) {
    std::vector<Packet> packets;
    Status status = alone([&]() -> Status {
        packets = tell_covers(met);
        return {};
    });
    // Who has no memory takes part with nothing.
    packets = exchange_by_nodes(team_, packets);
    const auto keep = [&]() -> Status {
        const Topology& topology = team_.topology();
        remote_.assign(topology.nodes, {});
        for (const Packet& packet : packets) {
            auto& boxes = remote_[topology.node_of[packet.rank]];
            boxes.resize(space_.places.size());
            for_words(to_words(packet.bytes), space_,
                      [&](std::size_t p, const HeldBox& held) { boxes[p].push_back(held); });
        }
        outgoing_.resize(remote_.size());
        sends_.reserve(remote_.size());
        return {};
    };
    return status.ok() ? alone(keep) : status;
}

/// What the readers of other nodes must know of this one; its first rank tells them.
std::vector<Packet> Scatter::tell_covers(std::set<int>& met) const {
    const Topology& topology = team_.topology();
    std::map<int, std::vector<std::int64_t>> words;  // per reader's rank
    for (std::size_t p = 0; p < cover_.size(); ++p) {
        std::set<int> met_here;
        for (const HeldBox& held : cover_[p]) layout_->add_writers(space_, p, held.box, met_here);
        met.insert(met_here.begin(), met_here.end());
        if (topology.node_rank != 0) continue;
        for (const int reader : met_here) {
            const int rank = readers_[reader];
            if (topology.node_of[rank] != topology.node)
                append(words[rank], p, cover_near(reader, p));
        }
    }
    std::vector<Packet> packets;
    for (const auto& [rank, list] : words) packets.push_back({rank, to_bytes(list)});
    return packets;
}

Status Scatter::add_lanes(const std::set<int>& met) {
    const Topology& topology = team_.topology();
    const std::int64_t members = topology.members.size();
    for (std::size_t r = 0; r < readers_.size(); ++r) {
        const int reader = r;
        const int rank = readers_[r];
        const bool local = topology.node_of[rank] == topology.node;
        if (!local && met.count(reader) == 0) continue;
        Lane lane{};
        lane.reader = reader;
        lane.rank = rank;
        lane.local = local;
        if (local)
            lane.owner = std::find(topology.members.begin(), topology.members.end(), rank) -
                         topology.members.begin();
        else
            lane.owner = reader % static_cast<int>(members);
        if (rank == team_.rank()) own_ = lanes_.size();
        lanes_.push_back(std::move(lane));
    }
    return {};
}

/// Cuts the node's memory into slots.
Status Scatter::share_arena(const StreamOptions& options) {
    const std::int64_t members = team_.topology().members.size();
    const std::int64_t lanes = lanes_.size();
    const auto controls = static_cast<std::int64_t>(sizeof(Control)) * members;
    const std::int64_t room =
        std::min<std::int64_t>(options.budget, static_cast<std::int64_t>(arena_->size())) -
        controls;
    std::int64_t piece =
        options.piece > 0 ? std::max(options.piece, smallest_scatter_piece) : default_scatter_piece;
    slots_ = members == 1 ? 1 : 3;
    auto fitting = [&] {
        return lanes == 0 ? piece : (room / (lanes * slots_) - scatter_slack) / 64 * 64;
    };
    if (fitting() < 4096 && slots_ > 2) slots_ = 2;
    piece = std::min({piece, fitting(), largest_scatter_piece});
    std::int64_t smallest = piece;
    team_.all_reduce({&smallest, 1}, Reduce::min);
    piece_ = smallest;
    if (piece_ < smallest_scatter_piece)
        return alone([&] {
            return failure(TW_ENOMEM,
                           "{} bytes of exchange buffers per node are not enough for {} streams of "
                           "{} slots; increase the setting 'buffer'",
                           options.budget, lanes, slots_);
        });
    capacity_ = static_cast<std::size_t>(piece_ + 8 + 63) / 64 * 64;
    char* at = arena_->data() + controls;
    for (Lane& lane : lanes_) {
        lane.memory = at;
        at += capacity_ * slots_;
    }
    return alone([&]() -> Status {
        for (Lane& lane : lanes_) lane.cursor = pieces_of(lane.reader);
        first_of_.resize(space_.places.size());
        return {};
    });
}

}  // namespace thalweg::detail
