// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/write_pipeline.hpp"

#include <algorithm>
#include <functional>

#include "base/bits.hpp"
#include "exchange/write/stream_pass.hpp"

namespace thalweg::detail {

std::unique_ptr<WritePipeline> WritePipeline::make(
    Team& team, Packers& packers, Memory& arena, const Layout& layout,
    const std::vector<int>& writers, const Definitions& definitions, const Holdings& holdings,
    std::span<const FileSection> sections, Order order, const StreamOptions& options,
    Status& status) {
    // Writers in whose share ranks of this node hold elements. The node's own writers get a lane in
    // any case, so the set stays empty if no other node's writers get data.
    std::vector<std::int64_t> met;
    std::unique_ptr<WritePipeline> stream(
        new WritePipeline(team, packers, layout, definitions, holdings, order));
    if (!options.fill_only && team.topology().nodes > 1) {
        met.resize((writers.size() + 63) / 64);
        Status own = stream->views_.exchange(team, layout, writers, sections, met);
        if (status.ok()) status = std::move(own);
    }
    stream->add_lanes(writers, met);
    status = stream->place_lanes(arena, sections, options, std::move(status));
    return status.ok() ? std::move(stream) : nullptr;
}

/// Adds a lane for each writer on this node, and for each writer elsewhere in whose share the
/// node's ranks have elements.
void WritePipeline::add_lanes(const std::vector<int>& writers, std::span<const std::int64_t> met) {
    lanes_.all.clear();
    for (std::size_t w = 0; w < writers.size(); ++w) {
        WriteLane lane(team_, w, writers[w], counts_);
        if (lane.local || has_bit(met, w)) lanes_.all.push_back(std::move(lane));
    }
    for (WriteLane& lane : lanes_.all)
        if (lane.local && lane.mine) lanes_.own = &lane;
}

/// Assigns the lanes their slots in memory.
/// @param mine  this rank's own failure so far
/// @return the same on every rank
/// @note Collective
Status WritePipeline::place_lanes(Memory& arena, std::span<const FileSection> sections,
                                  const StreamOptions& options, Status mine) {
    const Topology& topology = team_.topology();
    const std::int64_t lanes = lanes_.all.size(), members = std::ssize(topology.members);
    // All slots together have 512 KiB for each rank, so that a rank that waits for half of them
    // gets 256 KiB, which is worth the wake-up.
    const std::int64_t all = std::max<std::int64_t>(8 << 20, members * (512 << 10));
    SlotNeeds needs;
    needs.piece = std::clamp<std::int64_t>(all / 16, 2 << 20, 8 << 20);
    needs.smallest = 256;
    needs.unit = 8;
    needs.margin = PiecePacker::most_excess(members);
    const std::int64_t wanted = options.piece > 0 ? options.piece : needs.piece;
    needs.count = team_.size() == 1 ? 1 : std::clamp<std::int64_t>(all / wanted, 4, 16);
    needs.alike = true;
    const std::int64_t groups =
        WriteControl::most_groups(std::min<std::int64_t>(options.budget, arena.size()), lanes);
    const std::int64_t control = WriteControl::bytes(needs.count, groups);
    needs.controls = control * lanes;
    const auto prepare = [&](std::int64_t piece) {
        lanes_.sends.reserve(lanes);
        if (lanes_.own == nullptr || topology.nodes == 1) return;
        const int largest = *std::max_element(topology.sizes.begin(), topology.sizes.end());
        lanes_.received.resize(piece + PiecePacker::most_excess(largest));
    };
    const Status status = cut_memory(team_, arena, options, needs, lanes, std::move(mine),
                                     std::ref(prepare), lanes_.slots);
    if (!status.ok()) return status;
    Slots slots = lanes_.slots;
    char* words = arena.data();
    for (WriteLane& lane : lanes_.all) {
        lane.place(words, groups, slots);
        words += control;
        slots.memory += slots.count * slots.capacity;
    }
    touch_slots(arena, sections);
    return {};
}

/// Touches the pages that the node's writers will use, before the first pass: touching them one by
/// one costs several times the copy into them. Each rank touches a part. A writer touches all pages
/// of its own slots, because it will read all of them.
void WritePipeline::touch_slots(Memory& arena, std::span<const FileSection> sections) const {
    constexpr std::size_t most_mapped = std::size_t(9) << 20;
    const std::size_t members = team_.topology().members.size();
    const std::size_t place = team_.topology().node_rank;
    for (const WriteLane& lane : lanes_.all) {
        if (!lane.local) continue;
        std::int64_t most = 0;  // bytes of a pass
        for (const FileSection& space : sections) {
            std::int64_t bytes = 0;
            const Share share = layout_.share(lane.writer, space, 0);
            for (const Extent& e : share.extents()) bytes += e.size();
            most = std::max(most, bytes);
        }
        const Slots& slots = lane.slots();
        const std::int64_t pieces = std::min(slots.count, (most + slots.piece - 1) / slots.piece);
        const std::size_t first = slots.memory - arena.data();
        const std::size_t begin = std::max(first, arena.touched);
        const std::size_t end = first + pieces * slots.capacity;
        if (begin >= end) continue;
        const std::size_t part = (end - begin) / members;
        (void)(lane.mine ? arena.touch(begin, end - begin)
                         : arena.touch(begin + part * place, part));
        // On a node with few ranks, each of them uses most of these pages.
        if (!lane.mine && end - begin <= most_mapped) arena.map(begin, end - begin);
        arena.touched = end;
    }
}

void WritePipeline::prepare() {
    for (WriteLane& lane : lanes_.all)
        if (lane.mine) lane.clear();
}

Status WritePipeline::run(const FileSection& space, std::int64_t base, std::int64_t record,
                          std::span<const Action> actions, std::span<const Part* const> parts,
                          Storage& storage, std::span<std::int64_t> misfits) {
    const SectionPass pass{space, base, record, actions, parts, misfits};
    const PiecePacker packer(views_, packers_, pass);
    std::vector<char> wanted;
    for (const Action action : actions) wanted.push_back(action != Action::skip);
    if (extents_of(space, wanted).empty()) return {};
    for (WriteLane& lane : lanes_.all) {
        Share share = layout_.share(lane.writer, space, base);
        std::vector<Extent> extents = intersect(share.extents(), extents_of(share.space(), wanted));
        lane.begin_pass(std::move(share), std::move(extents), packer);
    }
    for (WriteLane& lane : lanes_.all) lane.join();
    return StreamPass(team_, lanes_, packer, storage, counts_).run();
}

}  // namespace thalweg::detail
