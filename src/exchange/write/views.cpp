// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/views.hpp"

#include <map>
#include <set>
#include <utility>

#include "base/bits.hpp"
#include "base/words.hpp"
#include "comm/node_exchange.hpp"
#include "exchange/held_words.hpp"

namespace thalweg::detail {

Views::Views(const Definitions& definitions, const Holdings& holdings, Order order)
    : definitions_(definitions), order_(order) {
    // Number views by decomposition, not by holding: the variables that share a holding can differ
    // between ranks.
    std::map<std::pair<const Decomposition*, std::vector<int>>, int> known;
    for (std::size_t i = 0; i < holdings.size(); ++i) {
        const Holding& h = *holdings[i];
        const auto [at, fresh] =
            known.try_emplace({h.decomposition.get(), h.order}, static_cast<int>(views_.size()));
        view_of_.push_back(at->second);
        fills_.push_back(definitions.variables[i].fill_value(order));
        if (fresh) views_.push_back({&h, definitions.variables[i].shape});
    }
}

/// Returns, for each writer with elements of a view in its share, the boxes of this rank that the
/// writer must know. Of lists, only the runs in the writer's share are included. A writer whose
/// share has no element of a list is left out.
std::map<int, std::vector<HeldBox>> Views::find_near(const Layout& layout,
                                                     std::span<const FileSection> sections,
                                                     std::span<const Places> places,
                                                     int view) const {
    const std::vector<HeldBox>& own = views_[view].holding->held;
    std::set<int> met;
    for (std::size_t s = 0; s < sections.size(); ++s)
        for (const std::size_t place : places[s][view])
            for (const HeldBox& held : own) layout.add_writers(sections[s], place, held.box, met);
    std::map<int, std::vector<HeldBox>> near;
    for (const int w : met) {
        if (!own.front().list) {
            near[w] = own;
            continue;
        }
        std::vector<Box> frames;
        for (std::size_t s = 0; s < sections.size(); ++s) {
            const Share share = layout.reach(w, sections[s]);
            for (const std::size_t p : places[s][view]) add_frames(share, p, own.front(), frames);
        }
        if (!frames.empty()) near[w] = {held_near(own.front(), frames)};
    }
    return near;
}

Status Views::exchange(Team& team, const Layout& layout, const std::vector<int>& writers,
                       std::span<const FileSection> sections, std::span<std::int64_t> met) {
    const Topology& topology = team.topology();
    std::vector<Packet> packets;
    Status mine = catch_errors([&] {
        // message to each writer, by the writer's rank
        std::map<int, std::vector<std::int64_t>> words;
        std::vector<Places> places(sections.size(), Places(views_.size()));
        for (std::size_t s = 0; s < sections.size(); ++s)
            for (std::size_t p = 0; p < sections[s].places.size(); ++p)
                places[s][view_of_[sections[s].places[p].variable]].push_back(p);
        for (int v = 0; v < std::ssize(views_); ++v) {
            for (const auto& [w, boxes] : find_near(layout, sections, places, v)) {
                set_bit(met, w);
                const int rank = writers[w];
                if (topology.node_of[rank] != topology.node) append_boxes(words[rank], v, boxes);
            }
        }
        for (const auto& [rank, list] : words) packets.push_back({rank, to_bytes(list)});
    });
    // A rank without memory takes part with no messages.
    if (!mine.ok()) packets.clear();
    bool have = true;
    packets = exchange_by_nodes(team, packets, have, {.most = std::ssize(writers)});
    if (mine.ok() && !have) mine = out_of_memory();
    if (mine.ok())
        mine = catch_errors([&]() -> Status {
            for (const Packet& packet : packets)
                for_boxes(
                    to_words(packet.bytes), [&](int v) -> auto& { return views_[v].shape; },
                    [&](int v, HeldBox held) {
                        views_[v].remote[packet.rank].push_back(std::move(held));
                    });
            return {};
        });
    team.reduce_on_node(met, Reduce::bit_or);
    return mine;
}

}  // namespace thalweg::detail
