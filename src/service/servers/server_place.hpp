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
    /// Replaces the server's number in an error by its rank in the session's communicator.
    Status named(Status status) const;
    /// Runs the local part of a server's work. @return the same on every server
    /// @note Collective over the servers
    template <class Act>
    Status all_do(Act&& act) const {
        const Status mine = alone(act);
        return agree(peers, with_reserve([&] { return named(mine); }));
    }
    /// Returns this server's own contribution to an answer.
    Answer answer(const Status& status) const;

    const ServerRoles& server_roles;
    int writer;
    Transport& transport;
    Comm& peers;
    NodeTable node_table;
    Neighbours neighbours;
    int node;
    std::vector<int> fed;  ///< writers on other nodes to which this server sends its node's data
};

}  // namespace thalweg::detail
