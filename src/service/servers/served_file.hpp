// Service "servers", seen from the model: commands to the servers, and the files that they write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "service/queue/rank/publisher.hpp"
#include "service/queue/writer/unit_sources.hpp"
#include "service/servers/server_node.hpp"
#include "service/servers/server_roles.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

/// The connection of a model rank to the servers, which all files of a session share.
class ServerConnection {
public:
    /// @param node_table  memory of this node
    ServerConnection(const ServerRoles& server_roles, Transport& transport,
                     const NodeTable& node_table)
        : server_roles_(server_roles), transport_(transport), node_table_(node_table) {}

    struct Inbox {
        /// For each server: number of this rank's messages that it has used.
        std::vector<std::int64_t> accepted;
        Region* region = nullptr;  ///< memory in which errors are entered
        /// Latest state of other ranks that servers have reported.
        Deadlock deadlock;
        std::deque<Message> replies;
    };

    const ServerRoles& server_roles() const { return server_roles_; }
    const NodeTable& node_table() const { return node_table_; }
    Transport& transport() { return transport_; }
    Inbox& inbox(std::int64_t file) { return inboxes_[file]; }
    void forget(std::int64_t file) { inboxes_.erase(file); }

    /// Receives the messages that have arrived.
    void poll();
    /// Sends a command to the servers and sleeps until they answer. For the first model rank.
    Answer ask(MessageKind kind, std::int64_t file, std::vector<char> body);
    /// Ends the servers' work for this session. For the first model rank.
    void end();

private:
    const ServerRoles& server_roles_;
    Transport& transport_;
    NodeTable node_table_;
    std::map<std::int64_t, Inbox> inboxes_;
};

/// @param team  model ranks
/// @note Collective over the model ranks; the status is the same on every rank
std::unique_ptr<Publisher> make_served_file(Team& team, ServerConnection& port,
                                            const ServicePlan& plan, SpareQueues& spares,
                                            Status& status);

}  // namespace thalweg::detail
