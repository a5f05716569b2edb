// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_place.hpp"

namespace thalweg::detail {

ServerPlace::ServerPlace(const ServerRoles& its_server_roles, int its_writer,
                         Transport& its_transport, Comm& its_peers, const NodeTable& its_node_table)
    : server_roles(its_server_roles),
      writer(its_writer),
      transport(its_transport),
      peers(its_peers),
      node_table(its_node_table),
      neighbours(server_roles, writer, transport),
      node(server_roles.node_of(server_roles.servers()[writer])) {
    peers.show_ranks(server_roles.servers());
    const int servers = server_roles.servers().size();
    for (int w = 0; w < servers && server_roles.has_models(node); ++w)
        if (server_roles.node_of(server_roles.servers()[w]) != node &&
            server_roles.forwarder(node, w) == writer)
            fed.push_back(w);
}

Status ServerPlace::named(Status status) const {
    if (!status.ok() && status.place.rank < 0)
        reword(status, "{} (rank {})", status.text, OfRank{transport.address()});
    return status;
}

Answer ServerPlace::answer(const Status& status) const {
    Answer own;
    own.status = status;
    if (!status.ok()) own.failed = writer;
    return own;
}

}  // namespace thalweg::detail
