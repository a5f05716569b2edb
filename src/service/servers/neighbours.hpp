// Whom a server tells: its neighbours in the tree of servers, and ranks with which none of them
// shares memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "service/servers/crew.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

class Neighbours {
public:
    /// @param server  whose they are
    Neighbours(const Crew& crew, int server, Transport& transport);

    /// Of the servers below, which a command is passed on to.
    std::size_t below() const { return below_.size(); }
    /// The place of one of them among them.
    std::size_t place_of(int address) const;

    void send_below(MessageKind kind, std::int64_t file, const std::vector<char>& body);
    /// To the server above; from the first one, to the first model rank.
    void send_above(MessageKind kind, std::int64_t file, std::vector<char> body);
    /// News goes to all neighbours and to the ranks that this server tells. Who has heard it from
    /// one of them leaves that one out; so it comes to everybody, once.
    /// @param from  address; -1: it is this server's own
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
