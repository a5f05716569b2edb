// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/shares.hpp"

#include <algorithm>
#include <cmath>

#include "plan/shares/samples.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Number of writers whose streams are sampled.
constexpr std::int64_t sampled_streams = 8;

/// Bytes that method `direct` packs and writes at a time, and number of slots of a stream
/// (exchange/write/write_pipeline.cpp).
constexpr double direct_piece = 1 << 20, stream_slots = 4;

RecordSpace record_of(const Run& run) {
    RecordSpace record;
    FileSection& space = record.space;
    for (std::size_t kind = 0; kind < run.variables.size(); ++kind) {
        const RunVariables& v = run.variables[kind];
        VariableSlot place;
        place.shape = run.shape(v);
        place.bytes = volume(place.shape) * v.element;
        place.padded = (place.bytes + 3) / 4 * 4;
        place.element = v.element;
        place.dims = v.dims;
        for (std::int64_t i = 0; i < v.count; ++i) {
            place.variable = space.places.size();
            place.offset = space.bytes;
            space.bytes += place.padded;
            space.places.push_back(place);
            record.kinds.push_back(kind);
        }
    }
    return record;
}

void add_shared(const SharedBlocks& found, Work& work) {
    work.shared = found.blocks;
    work.handovers = found.handovers;
}

}  // namespace

Shares::Shares(const Run& run)
    : run_(run),
      holders_(run),
      record_(record_of(run)),
      layouts_(run, holders_),
      blocks_(run, holders_, record_, std::max<std::int64_t>(1, chosen().alignment)),
      estimator_(run, holders_, record_, blocks_) {}

/// Adds the bytes of the rank that holds most.
void Shares::add_held(const Way& way, Work& work) const {
    for (std::size_t i = 0; i < record_.kinds.size(); ++i) {
        const double elements = holders_.most_held(record_.kinds[i]);
        work.rank_bytes += elements * record_.space.places[i].element;
        if (holders_.listed(record_.kinds[i]))
            work.runs += elements / holders_.run_of(record_.kinds[i]);
    }
    work.packed = work.rank_bytes;
    work.copied = !run_.deferred && !way.queued && work.rank_bytes <= run_.staging;
}

/// Adds the work of method `direct`, in which each rank writes what it holds.
void Shares::add_direct(Work& work) const {
    work.writers = run_.ranks;
    work.writer_nodes = run_.nodes;
    work.exchanged = false;
    work.writer_bytes = work.rank_bytes;
    work.piece = direct_piece;
    work.requests = std::ceil(work.rank_bytes / work.piece);
    for (std::size_t i = 0; i < record_.kinds.size(); ++i) {
        const VariableSlot& place = record_.space.places[i];
        const int kind = record_.kinds[i];
        const Box block = holders_.block_of(kind, 0);
        const std::span<const std::int64_t> counts(block.count.data(), place.shape.size());
        const double elements = block.volume();
        const double runs = holders_.listed(kind) ? std::ceil(elements / holders_.run_of(kind))
                                                  : runs_of(counts, place.shape);
        work.calls += calls_of(runs, elements * place.element, run_.piece);
    }
    work.blocks = blocks_.number();
    add_shared(blocks_.shared(nullptr), work);
    work.locked = work.shared > 0 ? work.requests : 0;
    work.waiting = work.locked > 0 ? 1 : 0;
}

/// Returns the number of streams in which a node takes part: those of its own writers, and those of
/// the writers to which its ranks send.
double Shares::lanes(const MappedLayout& mapped, std::int64_t piece) const {
    const int writers = mapped.layout->writers();
    const std::int64_t n = std::min<std::int64_t>(sampled_streams, writers);
    double met = 0;
    for (std::int64_t i = 0; i < n; ++i)
        met += estimator_.nodes_met(mapped, sample(i, n, writers), piece) / n;
    return std::max(1.0, writers * (1 + met) / run_.nodes);
}

void Shares::add_estimates(const MappedLayout& mapped, const BusyWriters& busy, std::int64_t piece,
                           Work& work) const {
    const double n = busy.few.size();
    work.active = busy.number;
    const auto pieces_of = [&](double bytes) { return std::ceil(bytes / piece); };
    // Messages and bytes from other nodes of the sampled writers; messages of the busiest of them.
    double messages = 0, remote = 0, most = 0;
    for (const int w : busy.few) {
        const ShareEstimate estimate = estimator_.at(mapped, w, piece);
        work.writer_bytes = std::max(work.writer_bytes, estimate.bytes);
        work.calls = std::max(work.calls, estimate.calls);
        work.locked = std::max(work.locked, estimate.locked);
        const double met = estimate.met.size();
        work.met += met / n;
        if (estimate.seen <= 0) continue;
        work.waiting += std::min(1.0, estimate.locked / pieces_of(estimate.bytes)) / n;
        const double from_others =
            estimate.bytes * std::max(0.0, 1 - estimate.local / estimate.seen);
        const double received = pieces_of(estimate.bytes) * estimate.sources;
        work.messages = std::max(work.messages, received);
        messages += received * busy.number / n;
        remote += from_others * busy.number / n;
        most = std::max(most, from_others);
    }
    remote = std::min(remote, work.bytes);
    work.sent = remote / run_.nodes;
    work.received = std::max(most, remote / work.writer_nodes);
    work.unpacked = remote / std::max(1.0, busy.number);
    work.messages = std::max(work.messages, messages / run_.nodes);
    work.requests = pieces_of(work.writer_bytes);
    work.blocks = blocks_.number();
    if (work.locked > 0) add_shared(blocks_.shared(&mapped), work);
    work.piece = piece;
}

/// Changes the work for steps that are larger than `staging`, which are written variable by
/// variable. If each writer has one contiguous range over all variables, each variable belongs to
/// only a few writers.
void Shares::go_by_variable(const Way& way, const MappedLayout& mapped, const BusyWriters& busy,
                            Work& work) const {
    double one_after_another = 0, most = 0;
    for (const VariableSlot& place : record_.space.places) {
        const double bytes = place.bytes;
        const double active =
            way.method != "record" ? busy.number : std::max(1.0, busy.number * bytes / work.bytes);
        one_after_another += bytes / active;
        most = std::max(most, active);
    }
    work.passes = record_.space.places.size();
    if (way.queued) {
        work.room = run_.staging / work.rank_bytes;
        work.crowd = std::max(1.0, busy.number / most);
        return;
    }
    work.writer_bytes = std::max(work.writer_bytes, one_after_another);
    if (most >= work.active) return;
    work.unpacked *= work.active / most;
    work.active = most;
    // Ranks pack only for these writers.
    const std::int64_t piece = work.piece;
    work.packed = std::max(work.rank_bytes,
                           estimator_.unevenness(mapped, busy.some, piece, work.active).packed);
}

Work Shares::reading() const {
    const bool few = run_.system().sharing == Sharing::parallel;
    Work straight = work_of({"direct"});
    straight.rounds = 0;
    straight.locked = 0;
    straight.compressed = false;
    constexpr double long_run = 128 << 10;
    double runs = 0;
    for (std::size_t i = 0; i < record_.kinds.size(); ++i) {
        const VariableSlot& place = record_.space.places[i];
        const Box block = holders_.block_of(record_.kinds[i], 0);
        const std::span<const std::int64_t> counts(block.count.data(), place.shape.size());
        runs += runs_of(counts, place.shape);
    }
    const bool lists = run_.list_run > 0;
    if (!few && !lists && run_.storage == "posix" && straight.rank_bytes >= runs * long_run)
        return straight;
    Work work = work_of({"record", false, few ? "4/node" : fmt::format("{}/node", run_.ranks)});
    work.rounds = 0;
    work.locked = 0;
    work.copied = false;
    return work;
}

Work Shares::work_of(const Way& way) const {
    Work work;
    work.ranks = run_.ranks;
    work.nodes = run_.nodes;
    work.cores = run_.cores;
    work.bytes = bytes();
    work.durable = run_.durable;
    work.compressed = run_.compressed;
    work.stored = run_.stored;
    const std::int64_t per_file = run_.outputs_per_file > 0 ? run_.outputs_per_file : run_.outputs;
    work.files = 1.0 / per_file;
    add_held(way, work);
    if (way.method == "direct") {
        add_direct(work);
        if (run_.storage == "pnetcdf") work.rounds = 1;
        return work;
    }
    const MappedLayout mapped = layouts_.of(way);
    work.writers = mapped.layout->writers();
    if (way.own_files) work.files *= work.writers;
    work.writer_nodes = std::min(work.writers, run_.nodes);
    std::int64_t piece = run_.piece;
    if (!way.queued) {
        const double room = run_.buffer * run_.ranks / run_.nodes;
        const std::int64_t fitting = room / (lanes(mapped, piece) * stream_slots);
        piece = std::max<std::int64_t>(4096, std::min(piece, fitting));
    }
    const BusyWriters busy = busy_writers(*mapped.layout, record_.space);
    add_estimates(mapped, busy, piece, work);
    if (!way.queued) {
        const Unevenness uneven = estimator_.unevenness(mapped, busy.some, piece, work.writers);
        work.packed = std::max(work.packed, uneven.packed);
        work.unpacked *= uneven.received;
    }
    // All ranks call MPI-IO in rounds, each as large as the exchange buffers.
    if (run_.storage == "pnetcdf") work.rounds = std::ceil(work.writer_bytes / run_.buffer);
    if (!run_.deferred && work.rank_bytes > run_.staging) go_by_variable(way, mapped, busy, work);
    return work;
}

}  // namespace thalweg::planning
