// Who serves and who is served: the roles of a session's ranks and their places on nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "comm/topology.hpp"

namespace thalweg::detail {

// News and commands go from server to server in a tree, so that none has to tell them all.
/// The server by which one is told; of the first one -1.
inline int server_above(int server) { return server == 0 ? -1 : (server - 1) / 2; }
/// Those of `servers` that one tells.
std::vector<int> servers_below(int server, std::size_t servers);

/// An address is a rank of all; servers are numbered by their addresses, as the writers of a
/// layout, and model ranks likewise.
class Crew {
public:
    Crew() = default;
    /// @param servers  addresses, ascending
    Crew(Topology topology, std::vector<int> servers);

    const std::vector<int>& servers() const { return servers_; }
    int models() const { return topology_.node_of.size() - servers_.size(); }
    bool serves(int address) const;
    /// The number of a server, or of a model rank.
    int number_of(int address) const;
    /// The address of a model rank.
    int model(int number) const;
    int nodes() const { return topology_.nodes; }
    int node_of(int address) const { return topology_.node_of[address]; }
    int place_of(int address) const;

    /// Servers of a node.
    std::span<const int> servers_of(int node) const;
    /// Addresses of a node's model ranks.
    std::vector<int> models_of(int node) const;
    bool has_models(int node) const;

    /// The server of a node that sends what the node's ranks have for writer `w`.
    int forwarder(int node, int w) const {
        const auto there = servers_of(node);
        return there[w % there.size()];
    }
    /// Addresses from which writer w gets messages: other nodes' servers, and ranks of nodes
    /// without one.
    std::vector<int> feeders(int w) const;

    /// The server that tells a model rank with which none shares memory, and hears of it.
    int contact(int model) const { return model % static_cast<int>(servers_.size()); }
    /// Addresses of the model ranks with which no server shares memory and that this one tells.
    std::vector<int> told_by(int server) const;

private:
    Topology topology_;
    std::vector<int> servers_;
    std::vector<int> by_node_;  ///< servers, node after node
    std::vector<int> first_;    ///< of each node in by_node_, and its end
};

/// Sets `number` of the ranks aside: with `last` those at the end, else spread over the nodes, the
/// last ranks of each. At least one rank stays.
Crew choose_crew(const Topology& topology, int number, bool last);

}  // namespace thalweg::detail
