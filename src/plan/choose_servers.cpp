// SPDX-License-Identifier: Apache-2.0
#include "plan/choose_servers.hpp"

#include <algorithm>
#include <cstdint>

#include "plan/plan.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// At most one rank of so many serves, if nothing is known of the output.
constexpr int ranks_of_a_server = 16;

/// Part of the highest rate that is as good as all of it.
constexpr double nearly = 0.95;

/// Servers on each node with which the file system is about as fast as it gets.
int wanted_on_node(const Folder& folder, int nodes, int most) {
    const double goal = nearly * *std::max_element(folder.rate.begin(), folder.rate.end());
    int n = 1;
    while (n < most && rate_of(folder, 1.0 * n * nodes, false) < goal) ++n;
    return n;
}

}  // namespace

ServerChoice choose_servers(const Folder& folder, int ranks, int nodes) {
    if (ranks < 2) return {0, "the session has one rank"};
    const int most = std::max(1, ranks / ranks_of_a_server);
    if (most < nodes)
        return {most, fmt::format("at most one rank of {} serves, of {} ranks on {} nodes",
                                  ranks_of_a_server, ranks, nodes)};
    const int on_node = wanted_on_node(folder, nodes, most / nodes);
    return {on_node * nodes, on_node == 1
                                 ? fmt::format("one on each node ({})", nodes)
                                 : fmt::format("{} on each of {} nodes, for the rate of {}",
                                               on_node, nodes, folder.file_system)};
}

ServerChoice choose_servers(Run run, int ranks, int nodes) {
    if (ranks > run.ranks)
        return {ranks - run.ranks, fmt::format("{} describes {} ranks, and {} were started",
                                               run.file, run.ranks, ranks)};
    if (ranks < run.ranks) {
        ServerChoice choice = choose_servers(run.folder, ranks, nodes);
        choice.why += fmt::format("; {} describes {} ranks, so it is of no use for {}", run.file,
                                  run.ranks, ranks);
        return choice;
    }
    run.nodes = nodes;
    // No rank was started on the cores that are free.
    run.cores = std::min(run.cores, (ranks + nodes - 1) / nodes);
    const Shares shares(run);
    const Plan plan = make_plan(run, shares);
    if (!plan.servers_pay)
        return {0, fmt::format("servers do not pay, by the plan of {}", run.file)};
    const Option& best = plan.servers[plan.best_servers];
    return {best.way.servers,
            fmt::format("by the plan of {} the run takes {:.4g} s with them, {:.4g} s without",
                        run.file, best.seconds, plan.without_servers)};
}

}  // namespace thalweg::planning
