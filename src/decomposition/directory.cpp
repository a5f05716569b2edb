// SPDX-License-Identifier: Apache-2.0
#include "decomposition/directory.hpp"

#include <algorithm>

#include "decomposition/varint.hpp"

namespace thalweg::detail {

namespace {

/// Number of runs that a rank sends in one round if the runs are spread evenly.
constexpr std::int64_t runs_of_round = std::int64_t(1) << 18;

/// Calls visit(first index, length) for the runs in a packet whose range begins at `begin`.
template <class Visit>
void for_runs(const Packet& packet, std::int64_t begin, Visit&& visit) {
    std::int64_t end = begin, global = 0, length = 0;
    for (const char* at = packet.bytes.data(); at != packet.bytes.data() + packet.bytes.size();) {
        get_run(at, end, global, length);
        visit(global, length);
    }
}

/// Tests if some index of a range may be in two packets. The result is exact if a bit map of the
/// range needs less memory than the packets; otherwise it is true if there are packets.
bool may_repeat(const std::vector<Packet>& packets, std::int64_t begin, std::int64_t end) {
    std::int64_t bytes = 0;
    for (const Packet& p : packets) bytes += p.bytes.size();
    if ((end - begin) / 8 > bytes) return !packets.empty();
    std::vector<std::uint64_t> bits((end - begin) / 64 + 1, 0);
    bool twice = false;
    for (const Packet& p : packets)
        for_runs(p, begin, [&](std::int64_t global, std::int64_t length) {
            for (std::int64_t i = global - begin; i < global + length - begin; ++i) {
                const std::uint64_t bit = std::uint64_t(1) << (i % 64);
                twice |= (bits[i / 64] & bit) != 0;
                bits[i / 64] |= bit;
            }
        });
    return twice;
}

/// Finds the lowest index of a range, which begins at `begin`, that is in two packets.
void find(const std::vector<Packet>& packets, std::int64_t begin, Duplicate& found) {
    std::vector<Run> runs;  // with the rank that holds the run as its position
    for (const Packet& p : packets)
        for_runs(p, begin, [&](std::int64_t global, std::int64_t length) {
            runs.emplace_back(global, p.rank, length);
        });
    sort_in_place(runs);
    const auto repeats = [](const Run& a, const Run& b) { return b.global() < a.end(); };
    const auto twice = std::adjacent_find(runs.begin(), runs.end(), repeats);
    if (twice == runs.end()) return;
    const auto [low, high] = std::minmax({twice[0].position(), twice[1].position()});
    found = {twice[1].global(), {static_cast<int>(low), static_cast<int>(high)}, {}};
}

std::int64_t part_of(std::int64_t n, std::int64_t i, std::int64_t parts) {
    return n / parts * i + n % parts * i / parts;
}

/// Returns this rank's indices that are sent in a round: a packet for each rank that gets any. In
/// each round, a rank gets the indices in one part of its range.
std::vector<Packet> packets_of(const IndexList& list, std::int64_t total, std::int64_t ranks,
                               std::int64_t rounds, std::int64_t round) {
    std::vector<Packet> packets;
    for (int r = 0; r < ranks; ++r) {
        const std::int64_t cell = r * rounds + round;
        const std::int64_t begin = part_of(total, cell, ranks * rounds);
        const std::int64_t end = part_of(total, cell + 1, ranks * rounds);
        auto run = std::partition_point(list.runs.begin(), list.runs.end(),
                                        [&](const Run& x) { return x.end() <= begin; });
        std::int64_t reached = begin;
        std::vector<char> bytes;
        for (; run != list.runs.end() && run->global() < end; ++run) {
            const std::int64_t low = std::max(begin, run->global());
            put_run(bytes, reached, low, std::min(end, run->end()) - low);
        }
        if (!bytes.empty()) packets.push_back({r, std::move(bytes)});
    }
    return packets;
}

}  // namespace

Status find_duplicate(Team& team, const IndexList& list, std::int64_t total, std::int64_t most_runs,
                      Duplicate& found) {
    Comm& comm = team.world();
    const std::int64_t ranks = comm.size();
    const std::int64_t rounds = most_runs / runs_of_round + 1;
    Status status;
    found = {};
    for (std::int64_t round = 0; round < rounds; ++round) {
        // A rank without memory sends nothing, but takes part in the exchange, as the others wait
        // for it.
        std::vector<Packet> packets;
        const auto guarded = [&](auto&& work) {
            const Status done = catch_errors([&] { work(); });
            if (status.ok()) status = done;
        };
        guarded([&] { packets = packets_of(list, total, ranks, rounds, round); });
        bool have = true;
        const std::vector<Packet> received = comm.exchange(packets, have);
        if (status.ok() && !have) status = out_of_memory();
        guarded([&] {
            const std::int64_t cell = comm.rank() * rounds + round;
            const std::int64_t begin = part_of(total, cell, ranks * rounds);
            const std::int64_t end = part_of(total, cell + 1, ranks * rounds);
            if (found.global < 0 && may_repeat(received, begin, end)) find(received, begin, found);
        });
    }
    std::int64_t first[] = {found.global < 0 ? ranks : comm.rank(), status.ok() ? 1 : 0};
    team.all_reduce(first, Reduce::min);
    if (first[1] == 0) return team.agree(status);
    const auto finder = static_cast<int>(first[0]);
    if (finder == ranks) return {};
    comm.broadcast(&found, sizeof found, finder);
    for (int i = 0; i < 2; ++i)
        found.positions[i] = comm.rank() == found.ranks[i] ? find_position(list, found.global) : -1;
    comm.all_reduce(found.positions, Reduce::max);
    return {};
}

}  // namespace thalweg::detail
