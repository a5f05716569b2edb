// The roles of a session's ranks, model or server, and their places on nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "comm/topology.hpp"

namespace thalweg::detail {

// Returns the server above one in the tree; -1 for the first one. Servers pass news and commands
// along a tree, so that no server has to send to all.
inline int server_above(int server) { return server == 0 ? -1 : (server - 1) / 2; }
/// Returns the servers below one in the tree.
std::vector<int> servers_below(int server, std::size_t servers);

/// The roles of all ranks. An address is a rank in the session. Servers are numbered by ascending
/// address, in the order of the layout's writers; model ranks likewise.
class ServerRoles {
public:
    ServerRoles() = default;
    /// @param servers  addresses of the servers, ascending
    ServerRoles(Topology topology, std::vector<int> servers);

    const std::vector<int>& servers() const { return servers_; }
    int models() const { return topology_.node_of.size() - servers_.size(); }
    bool serves(int address) const;
    /// Returns the number of the server, or of the model rank, with an address.
    int number_of(int address) const;
    /// Returns the address of a model rank.
    int model(int number) const;
    int nodes() const { return topology_.nodes; }
    int node_of(int address) const { return topology_.node_of[address]; }
    int place_of(int address) const;

    /// Returns the servers of a node.
    std::span<const int> servers_of(int node) const;
    /// Returns the addresses of a node's model ranks.
    std::vector<int> models_of(int node) const;
    bool has_models(int node) const;

    /// Returns the server of a node that sends the node's data to writer `w`.
    int forwarder(int node, int w) const {
        const auto there = servers_of(node);
        return there[w % there.size()];
    }
    /// Returns the addresses from which writer w gets messages: other nodes' servers, and ranks of
    /// nodes without one.
    std::vector<int> senders(int w) const;

    /// Returns the server that exchanges news with a model rank that shares memory with no server.
    int contact(int model) const { return model % static_cast<int>(servers_.size()); }
    /// Returns the addresses of the model ranks for which this server is the contact.
    std::vector<int> ranks_of(int server) const;

private:
    Topology topology_;
    std::vector<int> servers_;
    std::vector<int> by_node_;  ///< numbers of all servers, sorted by node
    std::vector<int> first_;    ///< index in by_node_ of each node's first server, and the total
};

/// Chooses `number` of the ranks as servers: the last ranks of all if `last` is set, otherwise the
/// last ranks of each node, spread over the nodes. At least one model rank remains.
ServerRoles choose_server_roles(const Topology& topology, int number, bool last);

}  // namespace thalweg::detail
