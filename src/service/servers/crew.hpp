// Who serves and who is served: the roles of a session's ranks and their places on nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

struct Crew {
    std::vector<int> servers;  ///< addresses (ranks of all), ascending; the layout's writers
    std::vector<int> models;   ///< addresses of the model ranks, in the order of their ranks
    std::vector<int> node_of;  ///< of each address

    /// Servers of a node, as numbers of writers.
    std::vector<int> servers_of(int node) const {
        std::vector<int> result;
        for (std::size_t s = 0; s < servers.size(); ++s)
            if (node_of[servers[s]] == node) result.push_back(static_cast<int>(s));
        return result;
    }
    std::vector<int> models_of(int node) const {
        std::vector<int> result;
        for (std::size_t m = 0; m < models.size(); ++m)
            if (node_of[models[m]] == node) result.push_back(static_cast<int>(m));
        return result;
    }
    int nodes() const { return 1 + *std::max_element(node_of.begin(), node_of.end()); }

    /// The server of a node that sends what the node's ranks have for writer `w`.
    int forwarder(int node, int w) const {
        const std::vector<int> there = servers_of(node);
        return there[w % there.size()];
    }
    /// Addresses from which writer w gets messages: other nodes' servers, and ranks of nodes
    /// without one.
    std::vector<int> feeders(int w) const {
        std::vector<int> result;
        const int here = node_of[servers[w]];
        for (int node = 0; node < nodes(); ++node) {
            if (node == here || models_of(node).empty()) continue;
            if (!servers_of(node).empty()) {
                result.push_back(servers[forwarder(node, w)]);
                continue;
            }
            for (int m : models_of(node)) result.push_back(models[m]);
        }
        return result;
    }
};

/// Sets `number` of the ranks aside: with `last` those at the end, else spread over the nodes, the
/// last ranks of each. At least one rank stays.
Crew choose_crew(const Topology& topology, int ranks, int number, bool last);

}  // namespace thalweg::detail
