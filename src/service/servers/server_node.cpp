// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_node.hpp"

#include <utility>

namespace thalweg::detail {

ServerNode::ServerNode(const ServerRoles& its_server_roles, int its_writer,
                       Transport& its_transport, Comm& its_peers, const NodeTable& its_node_table)
    : server_roles(its_server_roles),
      writer(its_writer),
      transport(its_transport),
      peers(its_peers),
      node_table(its_node_table),
      node(server_roles.node_of(server_roles.servers()[writer])),
      above(writer == 0 ? server_roles.model(0) : server_roles.servers()[server_above(writer)]),
      told(server_roles.ranks_of(writer)) {
    peers.show_ranks(server_roles.servers());
    const int servers = server_roles.servers().size();
    for (int w = 0; w < servers && server_roles.has_models(node); ++w)
        if (server_roles.node_of(server_roles.servers()[w]) != node &&
            server_roles.forwarder(node, w) == writer)
            fed.push_back(w);
    for (const int s : servers_below(writer, servers)) below.push_back(server_roles.servers()[s]);
    told.insert(told.end(), below.begin(), below.end());
    if (!is_first()) told.push_back(above);
}

void ServerNode::send_below(MessageKind kind, std::int64_t file,
                            const std::vector<char>& body) const {
    for (const int to : below) transport.send(to, kind, file, body);
}

void ServerNode::join(std::int64_t file, Answer answer) {
    const auto found = pending_.find(file);
    if (found == pending_.end()) return;
    Pending& pending = found->second;
    pending.joined.join(std::move(answer));
    if (--pending.missing > 0) return;
    std::vector<char> bytes = message_of(pending.joined);
    pending_.erase(found);
    transport.send(above, MessageKind::reply, file, std::move(bytes));
}

void ServerNode::spread(MessageKind kind, std::int64_t file, const std::vector<char>& body,
                        int from) const {
    for (const int to : told)
        if (to != from) transport.send(to, kind, file, body);
}

Status ServerNode::named(Status status) const {
    if (!status.ok() && status.place.rank < 0)
        reword(status, "{} (rank {})", status.text, OfRank{transport.address()});
    return status;
}

Answer ServerNode::answer(const Status& status) const {
    return {status, status.ok() ? INT_MAX : writer};
}

}  // namespace thalweg::detail
