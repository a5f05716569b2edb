// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/clock.hpp"
#include "plan/calibrate/calibrate.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

constexpr int tag = 11;

void send(Comm& comm, const std::vector<char>& data, std::size_t bytes, int to) {
    std::vector<MPI_Request> request{comm.start_send(data.data(), bytes, to, tag)};
    comm.finish(request);
}

/// Returns the seconds that a message and an empty answer to it take.
/// @param first  this rank sends the message
double exchange_seconds(Comm& comm, std::vector<char>& data, std::size_t bytes, int other,
                        bool first, int times) {
    const double begin = now();
    for (int i = 0; i < times; ++i) {
        if (first) send(comm, data, bytes, other);
        comm.receive(data.data(), data.size(), other, tag);
        if (!first) send(comm, data, 0, other);
    }
    return (now() - begin) / times;
}

}  // namespace

/// Measures messages between the first ranks of nodes 0 and 1, 2 and 3, ..., all at the same time.
/// On a single node, measures those between ranks 0 and 1.
void measure_messages(Team& team, double seconds, Machine& machine) {
    if (team.size() < 2) return;
    const Topology& t = team.topology();
    int other = -1;
    bool first = false;
    if (t.nodes == 1) {
        first = team.rank() == 0;
        other = team.rank() < 2 ? 1 - team.rank() : -1;
    } else if (t.node_rank == 0 && (t.node ^ 1) < t.nodes) {
        first = t.node % 2 == 0;
        other = t.rank_of(t.node ^ 1, 0);
    }
    constexpr std::size_t large = std::size_t(4) << 20;
    std::vector<char> data(other < 0 ? 0 : large, 1);
    Comm& comm = team.world();
    double latency = 0, time = 0;
    // Do not count the first messages, which set up connections and touch memory.
    for (const bool counts : {false, true}) {
        team.barrier();
        const double begin = now();
        if (other >= 0) {
            latency = exchange_seconds(comm, data, 0, other, first, counts ? 200 : 20) / 2;
            time = exchange_seconds(comm, data, large, other, first, counts ? 20 : 4);
        } else {
            sleep_seconds(counts ? seconds * 0.2 : 0);
        }
        team.barrier();
        if (all_max(team, now() - begin) > seconds) break;
    }
    machine.latency = all_max(team, latency);
    const double slowest = all_max(team, time);
    machine.message = static_cast<double>(large) / std::max(1e-9, slowest - *machine.latency);
}

/// Measures messages from each rank of a node to the next one, all at the same time.
void measure_inside(Team& team, double seconds, Machine& machine) {
    const Topology& t = team.topology();
    const int ranks = t.sizes[static_cast<std::size_t>(t.node)];
    constexpr std::size_t bytes = std::size_t(256) << 10;
    const int next = t.rank_of(t.node, (t.node_rank + 1) % ranks);
    const int previous = t.rank_of(t.node, (t.node_rank + ranks - 1) % ranks);
    const std::vector<char> data(bytes, 1);
    std::vector<char> got(bytes, 1);
    Comm& comm = team.world();
    const auto pass_on = [&](int times) {
        const double begin = now();
        for (int i = 0; i < times && ranks > 1; ++i) {
            std::vector<MPI_Request> request{comm.start_send(data.data(), bytes, next, tag)};
            comm.receive(got.data(), bytes, previous, tag);
            comm.finish(request);
        }
        return all_max(team, (now() - begin) / times);
    };
    // The first messages set up connections, and show how many messages fit into the time.
    const double once = pass_on(4);
    const int times =
        static_cast<int>(std::clamp(0.5 * seconds / std::max(1e-6, once), 4.0, 400.0));
    team.barrier();
    const double passed = pass_on(times);
    // All ranks wait for the slowest node. Assume that it is one with most ranks.
    const int most = *std::max_element(t.sizes.begin(), t.sizes.end());
    if (most > 1) machine.inside = most * static_cast<double>(bytes) / std::max(1e-9, passed);
}

}  // namespace thalweg::planning
