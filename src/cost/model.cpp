// SPDX-License-Identifier: Apache-2.0
#include "cost/model.hpp"

#include <algorithm>
#include <cmath>

namespace thalweg::detail {

namespace {

double per_node(const Work& work) {
    return std::ceil(static_cast<double>(work.ranks) / work.nodes);
}

/// Seconds in which the ranks of a node pass over some bytes each: by turns, where there are more
/// ranks than cores.
double pass(const Machine& machine, const Work& work, double rank_bytes) {
    const double ranks = per_node(work);
    const double turns = std::ceil(ranks / work.cores);
    return std::max(turns * rank_bytes / machine.pack, ranks * rank_bytes / machine.pack_node);
}

/// Messages of an agreement over all nodes, one after another.
double depth(const Work& work) { return 2 * std::ceil(std::log2(std::max(1, work.nodes))); }

/// Of the writers together, limited by the nodes that they are on.
double write_seconds(const Folder& folder, const Work& work) {
    double rate = rate_of(folder, work.writers, work.durable);
    if (folder.node_rate > 0) rate = std::min(rate, work.writer_nodes * folder.node_rate);
    // One that has more than the others writes the rest alone.
    const double alone = rate_of(folder, 1, work.durable);
    return work.stored *
           std::max(work.bytes / rate, work.writer_bytes / std::max(alone, rate / work.writers));
}

/// Servers hand over some blocks at a time, for all writers; those of one piece side by side.
double lock_seconds(const Folder& folder, const Work& work) {
    if (folder.locks <= 0) return work.locked * folder.lock;
    const double all = work.locked * work.writers / folder.locks;
    return std::max(all, std::min(work.locked, work.requests)) * folder.lock;
}

/// What the model does not wait for, of all that an output takes.
double hidden_part(const Outcome& outcome, double compute) {
    const double all = outcome.calls + outcome.behind;
    const double seen = std::max(0.0, outcome.period - compute);
    return all > 0 ? std::clamp(1 - seen / all, 0.0, 1.0) : 0;
}

}  // namespace

Cost cost_of(const Machine& machine, const Folder& folder, const Work& work) {
    Cost cost;
    cost.agree = 2 * (machine.agree + depth(work) * machine.latency);
    cost.metadata = folder.call + folder.request + work.files * (folder.create + folder.rename);
    cost.write =
        work.calls * folder.call + work.requests * folder.request + write_seconds(folder, work);
    cost.lock = lock_seconds(folder, work);
    if (work.copied) cost.copy = pass(machine, work, work.rank_bytes);
    const double turns = std::ceil(per_node(work) / work.cores);
    cost.pack = pass(machine, work, work.rank_bytes) + turns * work.runs * machine.run;
    cost.own = work.rank_bytes / machine.pack + work.runs * machine.run;
    cost.compose = work.writer_bytes / machine.pack;
    const double on_node = std::ceil(static_cast<double>(work.writers) / work.writer_nodes);
    if (work.compressed)
        cost.compress = std::ceil(on_node / work.cores) * work.writer_bytes / machine.compress;
    // MPI-IO passes on what it gets to the ranks that it writes by.
    if (work.rounds > 0)
        cost.rounds = work.rounds * (cost.agree / 2 + folder.call + folder.request) +
                      (work.nodes > 1 ? work.bytes / work.nodes / machine.message : 0);
    if (!work.exchanged) return cost;
    const double remote = std::max(work.received, work.sent);
    cost.message = remote / machine.message + work.messages * machine.latency;
    const double writers_of_node = static_cast<double>(work.writers) / work.writer_nodes;
    cost.unpack = work.received / writers_of_node / machine.pack;
    return cost;
}

double read_seconds(const Machine& machine, const Folder& folder, const Work& work) {
    const Cost cost = cost_of(machine, folder, work);
    if (!work.exchanged) return cost.agree + cost.write;
    return cost.agree + cost.message + cost.write + cost.pack;
}

Outcome inline_outcome(const Cost& cost, double compute) {
    // A writer does its own part of the packing, and what comes after it, one after another; the
    // others' packing goes on meanwhile.
    const double writer =
        cost.own + cost.message + cost.unpack + cost.compress + cost.write + cost.lock;
    Outcome outcome;
    outcome.calls =
        cost.agree + cost.copy + std::max(cost.pack, writer) + cost.rounds + cost.metadata;
    outcome.period = compute + outcome.calls;
    return outcome;
}

Outcome background_outcome(const Cost& cost, const Folder& folder, const Work& work, double compute,
                           bool free_core) {
    Outcome outcome;
    outcome.calls = cost.pack;
    if (work.nodes > 1) outcome.calls += cost.agree + cost.message;
    const double writing = cost.write + cost.lock;
    const double own = cost.compose + cost.compress;
    outcome.behind = own + writing + cost.metadata;
    if (!free_core) outcome.slower = own + folder.processor * writing;
    outcome.period = std::max(compute + outcome.slower + outcome.calls, outcome.behind);
    outcome.hidden = hidden_part(outcome, compute);
    return outcome;
}

Outcome servers_outcome(const Machine& machine, const Cost& cost, const Work& work, double compute,
                        bool extra) {
    Outcome outcome;
    outcome.calls = cost.pack;
    // Ranks of nodes without a server send their data themselves, to few nodes.
    const int without = work.nodes - work.writer_nodes;
    if (without > 0) {
        const double node = per_node(work) * work.rank_bytes;
        const double into = work.bytes * without / work.nodes / work.writer_nodes;
        outcome.calls += std::max(node, into) / machine.message + work.writers * machine.latency;
    }
    const double receive = cost.message + cost.unpack;
    outcome.behind =
        receive + cost.compose + cost.compress + cost.write + cost.lock + cost.metadata;
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

}  // namespace thalweg::detail
