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
#include "exchange/write/stream_pass.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
#include "exchange/write/pieces.hpp"

namespace thalweg::detail {

namespace {

constexpr int piece_tag = 2;

}  // namespace

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
        chunks = chunks_of(lane.share, pass.space, lane.piece(k), lane.slot(k), pass.base,
                           pass.record, lanes_.boxes);
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

}  // namespace thalweg::detail
