// Planning a stream: views, lanes, and the boxes that writers must know of other nodes' ranks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/node_exchange.hpp"
#include "comm/words.hpp"
#include "exchange/held_words.hpp"
#include "exchange/stream_control.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t default_piece = std::int64_t(2) << 20;
constexpr std::int64_t smallest_piece = 256;
constexpr std::int64_t largest_piece = std::int64_t(1) << 30;  // MPI counts and slots are 32-bit

/// Elements may straddle a piece's nominal end; padding may follow.
constexpr std::int64_t slack = 64;

}  // namespace

std::unique_ptr<Stream> Stream::make(Team& team, Packers& packers, Memory& arena,
                                     const Layout& layout, const std::vector<int>& writers,
                                     const Definitions& definitions, std::span<const Space> spaces,
                                     Order order, const StreamOptions& options, Status& status) {
    std::unique_ptr<Stream> stream;
    std::vector<std::set<int>> met_by_view;
    status = alone([&]() -> Status {
        stream.reset(new Stream(team, packers));
        stream->layout_ = &layout;
        stream->definitions_ = &definitions;
        stream->order_ = order;
        stream->writers_ = writers;
        stream->describe_variables(definitions);
        if (!options.fill_only) met_by_view = stream->find_writers(spaces);
        return {};
    });
    if (status = team.agree(status); !status.ok()) return nullptr;
    if (!options.fill_only && team.topology().nodes > 1) {
        status = team.agree(stream->exchange_boxes(spaces, met_by_view));
        if (!status.ok()) return nullptr;
    }
    std::vector<std::int64_t> met;
    status = team.agree(alone([&]() -> Status {
        met = stream->bits_of(met_by_view);
        return {};
    }));
    if (!status.ok()) return nullptr;
    team.node().all_reduce(met, Reduce::bit_or);
    status = team.agree(alone([&] { return stream->add_lanes(met); }));
    if (!status.ok()) return nullptr;
    status = team.agree(stream->share_arena(arena, options));
    if (!status.ok()) return nullptr;
    return stream;
}

void Stream::describe_variables(const Definitions& definitions) {
    for (const Variable& v : definitions.variables) {
        std::size_t i = 0;
        while (i < views_.size() &&
               (views_[i].decomposition != v.decomposition.get() || views_[i].order != v.order))
            ++i;
        if (i == views_.size())
            views_.push_back({v.decomposition.get(),
                              v.order,
                              v.shape,
                              held_by(*v.decomposition, v.order, v.shape),
                              {}});
        view_of_.push_back(static_cast<int>(i));
        fill_.push_back(v.fill_value(order_));
    }
}

std::vector<std::set<int>> Stream::find_writers(std::span<const Space> spaces) const {
    std::vector<std::set<int>> met(views_.size());
    for (const Space& space : spaces) {
        for (std::size_t p = 0; p < space.places.size(); ++p) {
            const std::size_t view = view_of_[space.places[p].variable];
            for (const HeldBox& held : views_[view].own)
                layout_->add_writers(space, p, held.box, met[view]);
        }
    }
    return met;
}

/// What the writers that this rank meets must know of it, by view: of lists the runs in their
/// share. A writer whose share has nothing of the list in it is not met.
std::map<int, std::vector<HeldBox>> Stream::find_held(std::span<const Space> spaces,
                                                      std::size_t view, std::set<int>& met) const {
    std::map<int, std::vector<HeldBox>> result;
    const std::vector<HeldBox>& own = views_[view].own;
    const bool lists = !own.empty() && own.front().list;
    std::set<int> truly;
    for (const int w : met) {
        if (!lists) {
            result[w] = own;
            continue;
        }
        std::vector<Box> frames;
        for (const Space& space : spaces) {
            const Share share = layout_->reach(w, space);
            for (std::size_t p = 0; p < space.places.size(); ++p) {
                const std::size_t variable = space.places[p].variable;
                if (view_of_[variable] == static_cast<int>(view))
                    add_frames(share, p, own.front(), frames);
            }
        }
        if (!frames.empty()) result[w] = {held_near(own.front(), frames)};
    }
    for (const auto& [w, held] : result) truly.insert(w);
    met = std::move(truly);
    return result;
}

/// What the writers of other nodes must know of this rank's boxes.
std::vector<Packet> Stream::tell_boxes(std::span<const Space> spaces,
                                       std::vector<std::set<int>>& met_by_view) const {
    const Topology& topology = team_.topology();
    std::map<int, std::vector<std::int64_t>> words;  // per writer's rank
    for (std::size_t v = 0; v < views_.size(); ++v) {
        for (const auto& [w, boxes] : find_held(spaces, v, met_by_view[v])) {
            const int rank = writers_[w];
            if (topology.node_of[rank] == topology.node) continue;
            auto& to = words[rank];
            to.push_back(v);
            to.push_back(boxes.size());
            for (const HeldBox& held : boxes) append_held(to, held);
        }
    }
    std::vector<Packet> packets;
    for (const auto& [rank, list] : words) packets.push_back({rank, to_bytes(list)});
    return packets;
}

/// A writer must know which boxes the ranks of other nodes have in its share, to unpack their
/// messages: told once, to the writers met and to no one else.
Status Stream::exchange_boxes(std::span<const Space> spaces,
                              std::vector<std::set<int>>& met_by_view) {
    // A rank without the memory takes part with nothing.
    std::vector<Packet> packets;
    Status status;
    const auto guarded = [&](auto&& work) {
        const Status done = alone([&]() -> Status {
            work();
            return {};
        });
        if (status.ok()) status = done;
    };
    guarded([&] { packets = tell_boxes(spaces, met_by_view); });
    const std::vector<Packet> received = exchange_by_nodes(team_, packets);
    guarded([&] {
        for (const Packet& packet : received) {
            const std::vector<std::int64_t> list = to_words(packet.bytes);
            for (const std::int64_t *at = list.data(), *end = at + list.size(); at != end;) {
                View& view = views_[at[0]];
                const std::int64_t n = at[1];
                at += 2;
                auto& boxes = view.remote[packet.rank];
                for (std::int64_t b = 0; b < n; ++b) boxes.push_back(parse_held(at, view.shape));
            }
        }
    });
    return status;
}

/// The writers met by any view, a bit each.
std::vector<std::int64_t> Stream::bits_of(std::span<const std::set<int>> met_by_view) const {
    std::vector<std::int64_t> bits((writers_.size() + 63) / 64, 0);
    for (const std::set<int>& met : met_by_view)
        for (const int w : met)
            bits[static_cast<std::size_t>(w) / 64] |= std::uint64_t(1) << (w % 64);
    return bits;
}

/// The node feeds the streams that its writers own and those that any of its ranks meets.
Status Stream::add_lanes(std::span<const std::int64_t> bits) {
    const Topology& topology = team_.topology();
    const std::int64_t members = topology.members.size();
    for (std::size_t w = 0; w < writers_.size(); ++w) {
        const int rank = writers_[w];
        const bool local = topology.node_of[rank] == topology.node;
        const bool is_met = (static_cast<std::uint64_t>(bits[w / 64]) >> (w % 64)) & 1;
        if (!local && !is_met) continue;
        Lane lane{};
        lane.writer = w;
        lane.rank = rank;
        lane.local = local;
        const int sender = w % members;
        lane.mine = local ? rank == team_.rank() : sender == topology.node_rank;
        if (local && lane.mine) own_ = lanes_.size();
        lanes_.push_back(lane);
        lanes_.back().recent.reserve(max_slots);
    }
    return {};
}

/// Cuts the node's memory into slots.
Status Stream::share_arena(Memory& arena, const StreamOptions& options) {
    const Topology& topology = team_.topology();
    const std::int64_t members = topology.members.size();
    const std::int64_t lanes = lanes_.size();
    const auto controls = static_cast<std::int64_t>(sizeof(Control)) * lanes;
    // Sections of a message: a header a rank, and padding.
    const std::int64_t extra = slack + 32 * members;
    const std::int64_t room =
        std::min<std::int64_t>(options.budget, static_cast<std::int64_t>(arena.size())) - controls;
    std::int64_t piece =
        options.piece > 0 ? std::max(options.piece, smallest_piece) : default_piece;
    slots_ = team_.size() == 1 ? 1 : 4;
    auto fitting = [&] { return lanes == 0 ? piece : (room / (lanes * slots_) - extra) / 8 * 8; };
    if (fitting() < 4096 && slots_ > 2) slots_ = 2;
    piece = std::min({piece, fitting(), largest_piece});
    std::int64_t agreed[2] = {piece, slots_};
    team_.all_reduce(agreed, Reduce::min);
    piece_ = agreed[0];
    slots_ = agreed[1];
    if (piece_ < smallest_piece)
        return alone([&] {
            return failure(TW_ENOMEM,
                           "{} bytes of exchange buffers per node are not enough for {} streams of "
                           "{} slots; increase the setting 'buffer'",
                           options.budget, lanes, slots_);
        });
    capacity_ = piece_ + extra;
    capacity_ = (capacity_ + 63) / 64 * 64;
    while (lanes > 0 && static_cast<std::int64_t>(capacity_) * lanes * slots_ > room)
        capacity_ -= 64;
    char* at = arena.data() + controls;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        lanes_[i].control = reinterpret_cast<Control*>(arena.data()) + i;
        lanes_[i].memory = at;
        lanes_[i].recent.resize(slots_);
        at += capacity_ * slots_;
    }
    if (own_ < 0 || topology.nodes == 1) return {};
    const auto largest_node =
        static_cast<std::size_t>(*std::max_element(topology.sizes.begin(), topology.sizes.end()));
    return alone([&]() -> Status {
        received_.resize((piece_ + slack) + 32 * largest_node);
        return {};
    });
}

}  // namespace thalweg::detail
