// SPDX-License-Identifier: Apache-2.0
#include "service/servers/neighbours.hpp"

#include <algorithm>
#include <utility>

#include "base/reserve.hpp"

namespace thalweg::detail {

Neighbours::Neighbours(const ServerRoles& server_roles, int server, Transport& transport)
    : transport_(transport),
      above_(server == 0 ? server_roles.model(0) : server_roles.servers()[server_above(server)]),
      first_(server == 0),
      ranks_(server_roles.ranks_of(server)) {
    for (const int s : servers_below(server, server_roles.servers().size()))
        below_.push_back(server_roles.servers()[s]);
}

std::size_t Neighbours::place_of(int address) const {
    return std::find(below_.begin(), below_.end(), address) - below_.begin();
}

void Neighbours::send(int to, MessageKind kind, std::int64_t file, const std::vector<char>& body) {
    with_reserve([&] { transport_.send(to, kind, file, body); });
}

void Neighbours::send_below(MessageKind kind, std::int64_t file, const std::vector<char>& body) {
    for (const int to : below_) send(to, kind, file, body);
}

void Neighbours::send_above(MessageKind kind, std::int64_t file, std::vector<char> body) {
    transport_.send(above_, kind, file, std::move(body));
}

void Neighbours::spread(MessageKind kind, std::int64_t file, const std::vector<char>& body,
                        int from) {
    for (const int to : below_)
        if (to != from) send(to, kind, file, body);
    if (!first_ && above_ != from) send(above_, kind, file, body);
    for (const int to : ranks_)
        if (to != from) send(to, kind, file, body);
}

}  // namespace thalweg::detail
