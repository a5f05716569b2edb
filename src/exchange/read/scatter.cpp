// SPDX-License-Identifier: Apache-2.0
#include "exchange/read/scatter.hpp"

#include <algorithm>
#include <utility>

#include "exchange/read/scatter_pass.hpp"

namespace thalweg::detail {

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
