// SPDX-License-Identifier: Apache-2.0
#include "choose/choose_servers.hpp"

#include <algorithm>

#include "base/text/text.hpp"

namespace thalweg::detail {

namespace {

/// Smallest number of ranks for each server. It is fixed, because the size of the output is not
/// known yet.
constexpr int ranks_of_a_server = 16;

/// Number of servers that nearly reach the speed of a parallel file system.
constexpr int enough_servers = 64;

}  // namespace

ServerChoice choose_servers(const FileSystem& system, int ranks, int nodes) {
    if (ranks < 2) return {0, "the session has one rank"};
    const int most = std::max(1, ranks / ranks_of_a_server);
    if (most < nodes)
        return {most, fmt::format("at most one rank of {} serves, of {} ranks on {} nodes",
                                  ranks_of_a_server, ranks, nodes)};
    const int useful =
        system.sharing == Sharing::parallel ? (enough_servers + nodes - 1) / nodes : 1;
    const int on_node = std::min(useful, most / nodes);
    return {on_node * nodes,
            on_node == 1 ? fmt::format("one on each node ({})", nodes)
                         : fmt::format("{} on each of {} nodes: file system {} serves several "
                                       "writers of a node",
                                       on_node, nodes, system.name)};
}

}  // namespace thalweg::detail
