// SPDX-License-Identifier: Apache-2.0
#include "plan/model.hpp"

#include <algorithm>
#include <cmath>

#include "comm/node_exchange.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

double per_node(const Work& work) {
    return std::ceil(static_cast<double>(work.ranks) / work.nodes);
}

/// Returns the seconds in which each rank of a node processes a number of bytes. If there are fewer
/// cores than ranks, they share the cores.
double pass(const Machine& machine, const Work& work, double rank_bytes) {
    const double ranks = per_node(work);
    const double turns = std::ceil(ranks / work.cores);
    return std::max(turns * rank_bytes / machine.pack, ranks * rank_bytes / machine.pack_node);
}

/// Returns the number of consecutive messages in an agreement of all nodes.
double depth(const Work& work) { return 2 * std::ceil(std::log2(std::max(1, work.nodes))); }

double active_writers(const Work& work) {
    return work.active > 0 ? work.active : std::max(1, work.writers);
}

/// Returns the rate of some writers together, which their nodes may limit.
double rate_of_writers(const Folder& folder, const Work& work, double writers, double nodes) {
    const double rate = rate_of(folder, writers, work.durable);
    return folder.node_rate > 0 ? std::min(rate, nodes * folder.node_rate) : rate;
}

/// Returns the number of blocks on the server with most blocks, if blocks are distributed round
/// robin.
double blocks_of_busiest(const Folder& folder, double blocks) {
    return std::ceil(blocks / folder.locks);
}

/// Returns the number of pieces that the busiest writer writes.
double rounds_of(const Work& work) { return std::max(1.0, work.requests); }

/// Returns the rate of all servers together; 0 if it is unknown because writers or nodes limited
/// the measured rates.
double rate_of_servers(const Machine& machine, const Folder& folder, bool durable) {
    constexpr double near = 0.9;
    const std::vector<double>& rate = durable ? folder.durable : folder.rate;
    const double most = *std::max_element(rate.begin(), rate.end());
    const double writers = rate.front() * folder.writers.back() / folder.writers.front();
    const double nodes = folder.node_rate * machine.nodes;
    return most > near * writers || (nodes > 0 && most > near * nodes) ? 0 : most;
}

/// Returns the seconds that the server with most blocks needs, if all servers are equally fast.
double server_seconds(const Machine& machine, const Folder& folder, const Work& work) {
    const double rate = rate_of_servers(machine, folder, work.durable);
    if (folder.locks <= 0 || work.blocks <= 0 || rate <= 0) return 0;
    return blocks_of_busiest(folder, work.blocks) * (work.bytes / work.blocks) /
           (rate / folder.locks);
}

/// Adds the times of receiving and writing. All writers of a node receive their pieces at the same
/// time, and then pass them to the disk at the same time. Each waits until all of these pieces have
/// left the node.
void add_writing(const Machine& machine, const Folder& folder, const Work& work, Cost& cost) {
    const double active = active_writers(work);
    const double nodes = std::min<double>(active, work.writer_nodes);
    const double all = rate_of_writers(folder, work, active, nodes);
    // A writer with more data than the others writes the excess alone.
    const double one = std::max(rate_of_writers(folder, work, 1, 1), all / active);
    const double on_node = std::ceil(active / std::max(1.0, nodes));
    const double others = folder.node_rate > 0 ? (on_node - 1) / machine.message : 0;
    cost.write = work.calls * folder.call + work.stored * work.writer_bytes / one;
    cost.leave = work.stored * work.writer_bytes * others;
    cost.disk = work.stored * std::max(work.bytes / all, server_seconds(machine, folder, work));
    cost.first = work.stored * std::min(work.piece, work.writer_bytes) * (1 / one + others);
}

/// Returns the seconds of waiting for blocks. A lock server passes on one block at a time; a writer
/// waits for all blocks of a piece at once. Writers go through the file in the same order, so they
/// wait for each other in each piece. Shared blocks are distributed over the servers at random, so
/// one server has more of them than the mean.
double lock_seconds(const Folder& folder, const Work& work) {
    if (folder.locks <= 0) return work.locked * folder.lock;
    if (work.shared <= 0) return 0;
    const double rounds = rounds_of(work);
    const double blocks = rounds * blocks_of_busiest(folder, work.blocks / rounds);
    const double part = std::min(1.0, work.shared / work.blocks);
    const double chance = std::sqrt(2 * blocks * part * (1 - part) * std::log(folder.locks));
    return std::min(blocks * part + chance, blocks) * work.handovers * folder.lock;
}

/// Returns the seconds of the exchange. All ranks send at the same time what they have queued for
/// writers on other nodes. If there would be many small messages, each node combines the messages
/// of its ranks (comm/node_exchange.hpp).
double exchange_seconds(const Machine& machine, const Work& work) {
    if (work.nodes == 1) return 0;
    const double ranks = per_node(work);
    const double out = work.sent / ranks;  // bytes that a rank sends
    // If data are distributed evenly, each rank of a node has some for each writer on another node.
    const double even = work.bytes * (work.nodes - 1) / work.nodes;
    const double senders = even > 0 ? std::min(1.0, work.sent * work.nodes / even) : 0;
    const double packets = senders * work.writers * work.met / work.nodes;
    const double remote = std::max(work.sent, work.received);
    double seconds = out / machine.pack + remote / machine.message;
    if (packets >= CombineLimits{}.packets && out < packets * CombineLimits{}.bytes)
        seconds += 2 * remote / machine.inside + ranks * machine.latency;
    else
        seconds += senders * work.met * ranks * machine.latency;
    return seconds;
}

/// Returns the seconds by which writing is delayed: the longer of two waits. Writers that wait for
/// blocks send their pieces at different times, so they do not wait for each other as well.
double held_up(const Cost& cost) { return std::max(cost.lock, cost.leave); }

/// Returns the fraction of an output for which the model does not wait.
double hidden_part(const Outcome& outcome, double compute) {
    const double all = outcome.calls + outcome.behind;
    const double seen = std::max(0.0, outcome.period - compute);
    return all > 0 ? std::clamp(1 - seen / all, 0.0, 1.0) : 0;
}

/// Adds the time of waiting for space in the queues. Data that do not fit wait until earlier data
/// are written; meanwhile the other writers begin one after another.
void wait_for_room(const Work& work, double writer, double disk, Outcome& outcome) {
    if (work.room >= 1) return;
    const double alone = std::max(writer * work.crowd, disk * (1 + work.crowd) / 2);
    const double waits = std::min(outcome.behind, (1 - work.room) * alone);
    outcome.calls = std::max(outcome.calls, waits);
    outcome.behind -= waits;
}

}  // namespace

Cost cost_of(const Machine& machine, const Folder& folder, const Work& work) {
    Cost cost;
    cost.agree = 2 * work.passes * (machine.agree + depth(work) * machine.latency);
    cost.metadata = folder.call + folder.request + work.files * (folder.create + folder.rename);
    add_writing(machine, folder, work, cost);
    cost.lock = lock_seconds(folder, work);
    // The disk begins with the pieces of the first round when that round has its blocks, and with
    // those of the last round when all blocks have been passed on.
    const double rounds = rounds_of(work);
    cost.idle =
        work.waiting * std::max(cost.lock / rounds, cost.lock - cost.disk * (1 - 1 / rounds));
    if (work.copied) cost.copy = pass(machine, work, work.rank_bytes);
    const double turns = std::ceil(per_node(work) / work.cores);
    const double packed = std::max(work.rank_bytes, work.packed);
    cost.pack = pass(machine, work, packed) + turns * work.runs * machine.run;
    const double on_node = std::ceil(static_cast<double>(work.writers) / work.writer_nodes);
    // With more writers, it is more likely that one of them is among the ranks for which others
    // wait.
    const double writing = std::min(1.0, on_node / per_node(work));
    cost.own = (work.rank_bytes + writing * (packed - work.rank_bytes)) / machine.pack +
               work.runs * machine.run;
    // number of runs in the share of a writer
    const double runs = work.runs * work.ranks / work.writers;
    cost.compose = work.writer_bytes / machine.pack + runs * machine.run;
    if (work.compressed)
        cost.compress = std::ceil(on_node / work.cores) * work.writer_bytes / machine.compress;
    // MPI-IO sends the data once more, to the ranks that it chooses to write.
    if (work.rounds > 0)
        cost.rounds = work.rounds * (cost.agree / 2 + folder.call + folder.request) +
                      (work.nodes > 1 ? work.bytes / work.nodes / machine.message : 0);
    if (!work.exchanged) return cost;
    cost.exchange = exchange_seconds(machine, work);
    const double remote = std::max(work.received, work.sent);
    cost.message = remote / machine.message + work.messages * machine.latency;
    cost.unpack = work.unpacked / machine.pack;
    if (work.writer_bytes > 0)
        cost.unpack += runs * machine.run * std::min(1.0, work.unpacked / work.writer_bytes);
    return cost;
}

double read_seconds(const Machine& machine, const Folder& folder, const Work& work) {
    const Cost cost = cost_of(machine, folder, work);
    const double reading = std::max(cost.write, cost.disk);
    if (!work.exchanged) return cost.agree + reading;
    return cost.agree + cost.message + reading + cost.pack;
}

Outcome inline_outcome(const Cost& cost, double compute) {
    // A writer packs its part and runs its later stages one after another. Meanwhile the other
    // ranks pack and the disks write, unless all wait for the same blocks.
    const double writer =
        cost.own + cost.message + cost.unpack + cost.compress + cost.write + held_up(cost);
    Outcome outcome;
    outcome.calls = cost.agree + cost.copy + std::max({cost.pack, writer, cost.disk + cost.idle}) +
                    cost.first + cost.rounds + cost.metadata;
    outcome.period = compute + outcome.calls;
    return outcome;
}

Outcome background_outcome(const Cost& cost, const Folder& folder, const Work& work, double compute,
                           bool free_core) {
    Outcome outcome;
    outcome.calls = cost.pack;
    if (work.nodes > 1) outcome.calls += cost.agree + cost.exchange;
    const double writing = cost.write + held_up(cost);
    const double own = cost.compose + cost.compress;
    outcome.behind = std::max(own + writing, cost.disk + cost.idle) + cost.first + cost.metadata;
    wait_for_room(work, own + writing, cost.disk, outcome);
    if (!free_core) outcome.slower = own + folder.processor * std::max(writing, cost.disk - own);
    outcome.period = std::max(compute + outcome.slower + outcome.calls, outcome.behind);
    outcome.hidden = hidden_part(outcome, compute);
    return outcome;
}

Outcome servers_outcome(const Machine& machine, const Cost& cost, const Work& work, double compute,
                        bool extra) {
    Outcome outcome;
    outcome.calls = cost.pack;
    // Ranks on nodes without a server send their data to other nodes themselves, but only to few.
    const int without = work.nodes - work.writer_nodes;
    if (without > 0) {
        const double node = per_node(work) * work.rank_bytes;
        const double into = work.bytes * without / work.nodes / work.writer_nodes;
        outcome.calls += std::max(node, into) / machine.message + work.writers * machine.latency;
    }
    const double receive = cost.message + cost.unpack;
    const double server = receive + cost.compose + cost.compress + cost.write + held_up(cost);
    outcome.behind = std::max(server, cost.disk + cost.idle) + cost.first + cost.metadata;
    wait_for_room(work, server, cost.disk, outcome);
    if (!extra) outcome.slower = compute * work.writers / work.ranks;
    outcome.period = std::max(compute + outcome.slower + outcome.calls, outcome.behind);
    outcome.hidden = hidden_part(outcome, compute + outcome.slower);
    return outcome;
}

MemoryUse inline_memory(const Work& work, const Limits& limits) {
    MemoryUse use;
    use.rank = (work.exchanged ? limits.buffer : limits.piece) +
               (work.copied ? std::min(work.rank_bytes, limits.staging) : 0);
    use.node = per_node(work) * use.rank;
    return use;
}

MemoryUse queued_memory(const Work& work, const Limits& limits, int arrived) {
    MemoryUse use;
    use.rank = std::min(2 * work.rank_bytes, limits.staging);
    const double writers_of_node = std::ceil(static_cast<double>(work.writers) / work.writer_nodes);
    use.node = per_node(work) * use.rank + writers_of_node * limits.piece + arrived * work.received;
    return use;
}

}  // namespace thalweg::planning
