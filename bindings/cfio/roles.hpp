// The roles of ranks: clients, servers, or neither.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>

namespace thalweg::cfio {

// Roles by rank in MPI_COMM_WORLD: the clients first, then the servers.
struct Roles {
    std::int64_t clients = 0;
    std::int64_t servers = 0;

    std::int64_t needed() const { return clients + servers; }
    bool is_client(int rank) const { return rank < clients; }
    bool is_blank(int rank) const { return rank >= needed(); }
};

// Returns the roles for a grid of x times y clients, with one server per `ratio` clients.
inline Roles roles_of(int x, int y, int ratio) {
    Roles roles;
    roles.clients = std::int64_t{x} * y;
    roles.servers = std::max<std::int64_t>(1, roles.clients / ratio);
    return roles;
}

}  // namespace thalweg::cfio
