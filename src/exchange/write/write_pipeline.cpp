// Explains how a stream runs, and why no rank waits forever.
//
// A rank packs the pieces of which it holds something, and no others; each piece is complete when
// all who hold some of it have packed. A rank drains a stream if it writes the pieces, or sends
// them to another node. All ranks walk the positions k = 0, 1, ...; at position k a rank (1) sends
// the pieces k - R that it drains for other nodes, (2) as a writer completes and writes its piece
// k - R, (3) packs its part of every piece k, R being the number of slots. A rank that drains
// nothing may sleep in (3) until pieces up to k + R / 2 - 1 can be packed, so that few wake-ups
// bring it much to do; one that drains waits for piece k alone.
//
// Consider the smallest position m at which some draining rank stands. The pieces before m have
// been released, so no other rank sleeps at a position up to m - R / 2, and all pieces m - R are
// packed sooner or later. So what (1) and (2) wait for at m is sent or packed by ranks that do not
// wait for m; and the slots that (3) waits for are free once (1) and (2) are done at m. Sends
// complete before a rank sleeps, as MPI may need its help.
// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/write_pipeline.hpp"

#include <algorithm>
#include <functional>

#include "base/bits.hpp"
#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
#include "exchange/pieces.hpp"
#include "exchange/write/piece_packer.hpp"
#include "exchange/write/write_lane.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

namespace {

class StreamPass {
public:
    /// Prepares the pass. Before, all lanes must have begun it, and this rank must have joined them
    /// (WriteLane::begin_pass and join).
    StreamPass(Team& team, WriteLanes& lanes, const PiecePacker& packer, Storage& storage,
               StreamCounts& counts)
        : team_(team), lanes_(lanes), packer_(packer), storage_(storage), counts_(counts) {}

    /// Runs the pass. @note Collective
    Status run();

private:
    std::int64_t most_pieces();
    std::int64_t end(std::int64_t calls) const;
    void send_pieces(std::int64_t k);
    void finish_sends();
    void drain_own(std::int64_t k, std::int64_t calls);
    void receive_pieces(WriteLane& lane, std::int64_t k);
    Status write_piece(const WriteLane& lane, std::int64_t k);
    void enter_pieces(std::int64_t k);
    void pack_piece(WriteLane& lane, std::int64_t k);

    Team& team_;
    WriteLanes& lanes_;
    const PiecePacker& packer_;
    Storage& storage_;
    StreamCounts& counts_;
    std::int64_t reach_ = 1;  ///< largest number of pieces for which this rank waits at once
    Status status_;
};

constexpr int piece_tag = 2;

Status StreamPass::run() {
    const std::int64_t calls = storage_.collective() ? most_pieces() : 0;
    const auto drains = [](const WriteLane& lane) { return lane.mine; };
    if (std::none_of(lanes_.all.begin(), lanes_.all.end(), drains))
        reach_ = std::max<std::int64_t>(1, lanes_.slots.count / 2);
    const std::int64_t last = end(calls);
    for (std::int64_t k = 0; k < last; ++k) {
        send_pieces(k);
        drain_own(k, calls);
        finish_sends();
        enter_pieces(k);
        for (WriteLane& lane : lanes_.all)
            if (lane.local) pack_piece(lane, k);
        for (WriteLane& lane : lanes_.all)
            if (!lane.local) pack_piece(lane, k);
    }
    for (WriteLane& lane : lanes_.all) lane.end_pass();
    return std::move(status_);
}

/// Returns the number of pieces of the longest stream of all nodes: with collective storage all
/// writers write equally often.
std::int64_t StreamPass::most_pieces() {
    std::int64_t n = lanes_.own == nullptr ? 0 : lanes_.own->pieces();
    team_.all_reduce({&n, 1}, Reduce::max);
    return n;
}

/// Returns the position after the last one at which this rank has something to do.
std::int64_t StreamPass::end(std::int64_t calls) const {
    std::int64_t last = lanes_.own == nullptr ? 0 : calls + lanes_.slots.count;
    for (const WriteLane& lane : lanes_.all) last = std::max(last, lane.end());
    return last;
}

/// Sends the pieces of position k - R that this rank forwards to writers on other nodes.
void StreamPass::send_pieces(std::int64_t k) {
    for (WriteLane& lane : lanes_.all) {
        if (lane.local || !lane.mine || lane.piece(k).size() <= 0) continue;
        const std::int64_t used = lane.wait_packed(k);
        if (used == 0) continue;
        Span span("send");
        span.bytes(used);
        lanes_.sends.push_back(team_.world().start_send(lane.slot(k), used, lane.rank, piece_tag));
        ++counts_.messages;
        counts_.message_bytes += used;
    }
}

void StreamPass::finish_sends() {
    if (lanes_.sends.empty()) return;
    const Waiting writers("writers of other nodes to receive");
    Stopwatch watch(counts_.move);
    team_.world().finish(lanes_.sends);
}

/// Completes and writes this writer's piece of position k - R.
/// @param calls  number of writes that a collective storage expects of every writer
void StreamPass::drain_own(std::int64_t k, std::int64_t calls) {
    if (lanes_.own == nullptr || k < lanes_.slots.count) return;
    WriteLane& lane = *lanes_.own;
    if (lane.piece(k).size() > 0) {
        lane.wait_packed(k);
        receive_pieces(lane, k);
    } else if (!storage_.collective() || k - lanes_.slots.count >= calls) {
        return;
    }
    Status status = write_piece(lane, k);
    if (status_.ok()) status_ = std::move(status);
}

/// Receives a message from every other node that has elements of the piece.
void StreamPass::receive_pieces(WriteLane& lane, std::int64_t k) {
    const Topology& topology = team_.topology();
    if (topology.nodes == 1) return;
    const Extent piece = lane.piece(k);
    const std::set<int> sources = packer_.nodes_with(lane.share, piece, topology);
    if (sources.empty()) return;
    const Waiting others("other nodes to send their parts");
    Stopwatch watch(counts_.move);
    std::vector<char>& received = lanes_.received;
    // Pairwise order (CAM, section 3.1): in round m node i receives from node i - m.
    for (int m = 1; m < topology.nodes; ++m) {
        const int node = (topology.node - m + topology.nodes) % topology.nodes;
        if (sources.count(node) == 0) continue;
        const int sender = topology.rank_of(node, lane.writer % topology.sizes[node]);
        Span span("receive");
        const std::size_t n =
            team_.world().receive(received.data(), received.size(), sender, piece_tag);
        span.bytes(n);
        packer_.unpack(lane.share, piece, {received.data(), n}, node, topology, lane.slot(k));
    }
}

Status StreamPass::write_piece(const WriteLane& lane, std::int64_t k) {
    const SectionPass& pass = packer_.pass();
    std::vector<Chunk> chunks;
    lanes_.boxes.clear();
    if (lane.piece(k).size() > 0)
        add_chunks(lane.share, pass.space, lane.piece(k), lane.slot(k), pass.base, pass.record,
                   lanes_.boxes, chunks);
    if (!storage_.collective() && (chunks.empty() || !status_.ok())) return {};
    const Waiting system(the_file_system);
    return catch_errors([&] { return storage_.write(chunks); });
}

/// Gives the slots of the pieces that this rank has drained to the ranks that pack the pieces of
/// position k.
void StreamPass::enter_pieces(std::int64_t k) {
    for (WriteLane& lane : lanes_.all) {
        if (!lane.mine) continue;
        lane.advance(k);
        const Extent piece = lane.piece(k);
        if (piece.size() <= 0) continue;
        if (lane.local) packer_.prefill(lane.share, piece, lane.slot(k));
        lane.release(k);
    }
}

void StreamPass::pack_piece(WriteLane& lane, std::int64_t k) {
    const WriteLane::Held* const held = lane.held(k);
    if (held == nullptr) return;
    lane.wait_free(*held, reach_);
    if (held->bytes > 0) {
        Span span("pack");
        span.record(packer_.record());
        Stopwatch watch(counts_.pack);
        std::int64_t bytes = 0;
        if (span || !lane.local) bytes = packer_.bytes_in(lane.share, held->piece);
        span.bytes(bytes);
        if (lane.local)
            packer_.pack(lane.share, held->piece, lane.slot(k));
        else if (bytes > 0)
            packer_.pack_section(lane.share, held->piece, team_.topology().node_rank, bytes,
                                 lane.take_room(k, PiecePacker::section_bytes(bytes)));
    }
    lane.announce(k);
}

}  // namespace

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
