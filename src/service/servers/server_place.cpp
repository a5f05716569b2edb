// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_place.hpp"

namespace thalweg::detail {

ServerPlace::ServerPlace(const Crew& its_crew, int its_writer, Transport& its_transport,
                         Comm& its_peers, const Board& its_board)
    : crew(its_crew),
      writer(its_writer),
      transport(its_transport),
      peers(its_peers),
      board(its_board),
      neighbours(crew, writer, transport),
      node(crew.node_of(crew.servers()[writer])) {
    const int servers = crew.servers().size();
    for (int w = 0; w < servers && crew.has_models(node); ++w)
        if (crew.node_of(crew.servers()[w]) != node && crew.forwarder(node, w) == writer)
            fed.push_back(w);
}

Status ServerPlace::named(Status status) const {
    if (!status.ok() && status.text.find("rank ") == std::string::npos)
        status.text += fmt::format(" (rank {})", transport.address());
    return status;
}

Answer ServerPlace::answer(const Status& status) const {
    Answer own;
    own.status = status;
    if (!status.ok()) own.failed = writer;
    return own;
}

}  // namespace thalweg::detail
