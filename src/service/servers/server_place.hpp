// The place of a server: among the servers of its session, on its node, and in the tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/reserve.hpp"
#include "service/servers/answer.hpp"
#include "service/servers/neighbours.hpp"
#include "service/servers/node_table.hpp"
#include "service/servers/server_roles.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

struct ServerPlace {
    ServerPlace(const ServerRoles& server_roles, int writer, Transport& transport, Comm& peers,
                const NodeTable& node_table);

    bool is_first() const { return writer == 0; }
    /// Adds the rank in the session's communicator to an error.
    Status named(Status status) const;
    /// Runs the local part of a server's work.
    /// @return the same on all
    /// @note Collective over the servers
    template <class Act>
    Status all_do(Act&& act) const {
        const Status mine = alone(act);
        return agree(peers, with_reserve([&] { return named(mine); }));
    }
    /// Makes this server's own part of an answer.
    Answer answer(const Status& status) const;

    const ServerRoles& server_roles;
    int writer;
    Transport& transport;
    Comm& peers;
    NodeTable node_table;
    Neighbours neighbours;
    int node;
    std::vector<int> fed;  ///< writers on other nodes that get this node's data from this server
};

}  // namespace thalweg::detail
