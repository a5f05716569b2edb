// The recipients of a server's news: its neighbours in the tree of servers, and model ranks that
// share memory with no server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/servers/server_roles.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

class Neighbours {
public:
    /// @param server  number of this server
    Neighbours(const ServerRoles& server_roles, int server, Transport& transport);

    /// Returns the number of servers below this one in the tree, to which it passes commands.
    std::size_t below() const { return below_.size(); }
    /// Returns the index of a server below this one, by its address.
    std::size_t place_of(int address) const;

    void send_below(MessageKind kind, std::int64_t file, const std::vector<char>& body);
    /// Sends to the server above this one in the tree; the first server sends to the first model
    /// rank.
    void send_above(MessageKind kind, std::int64_t file, std::vector<char> body);
    /// Sends news to the neighbours in the tree and to this server's model ranks, but not to the
    /// sender; so it reaches everyone once.
    /// @param from  address of the sender; -1: this server
    void spread(MessageKind kind, std::int64_t file, const std::vector<char>& body, int from);

private:
    void send(int to, MessageKind kind, std::int64_t file, const std::vector<char>& body);

    Transport& transport_;
    std::vector<int> below_;  // addresses
    int above_;
    bool first_;
    std::vector<int> ranks_;
};

}  // namespace thalweg::detail
