// Sessions of the components of a coupled model, which share their servers.
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_SERIAL
#include "comm/comm.hpp"
#include "session/begin.hpp"

using namespace thalweg::detail;

namespace {

/// The division of all ranks among the components of a coupled model and the servers.
struct Roles {
    int n = 0;                        ///< components
    const MPI_Comm* comms = nullptr;  ///< communicator of each component
    bool serves = false;
    std::vector<std::int64_t> ranks;  ///< number of ranks of each component, and of the servers

    bool is_in(int c) const { return comms[c] != MPI_COMM_NULL; }
};

/// Checks the arguments of this rank. Local.
Status check_own(const Roles& roles, const Comm& world, const tw_session* sessions) {
    if (sessions == nullptr) return failure(TW_EARG, "the pointer for the sessions is null");
    if (roles.comms == nullptr)
        return failure(TW_EARG, "the pointer to the components' communicators is null");
    if (roles.n < 1) return failure(TW_EARG, "{} components: there must be at least 1", roles.n);
    for (int c = 0; c < roles.n; ++c) {
        if (!roles.is_in(c)) continue;
        if (Status s = check_communicator(roles.comms[c]); !s.ok()) return s;
        if (roles.serves)
            return failure(TW_EARG, "rank {} serves, so it cannot be in component {}",
                           OfRank{world.rank()}, c);
    }
    return {};
}

/// Checks that all ranks of the component whose communicator this rank has passed have passed it,
/// too. Local.
Status check_size(const Roles& roles, int c) {
    if (!roles.is_in(c)) return {};
    int size = 0;
    MPI_Comm_size(roles.comms[c], &size);
    const std::int64_t given = roles.ranks[c];
    if (size == given) return {};
    return failure(TW_EARG, "component {}: {} ranks have given a communicator, but it has {} ranks",
                   c, given, size);
}

/// Checks that the roles of all ranks fit together.
/// @return the same on every rank
/// @note Collective
Status check_roles(Comm& world, Roles& roles, const tw_session* sessions) {
    const Status own = check_own(roles, world, sessions);
    if (Status s = agree(world, own); !s.ok()) return s;
    std::int64_t least_and_most[] = {-roles.n, roles.n};
    world.all_reduce(least_and_most, Reduce::max);
    if (-least_and_most[0] != least_and_most[1])
        return failure(TW_EMISMATCH,
                       "the number of components differs between ranks: from {} to {}",
                       -least_and_most[0], least_and_most[1]);
    for (int c = 0; c < roles.n; ++c) roles.ranks.push_back(roles.is_in(c) ? 1 : 0);
    roles.ranks.push_back(roles.serves ? 1 : 0);
    world.all_reduce(roles.ranks, Reduce::sum);
    if (roles.ranks.back() == 0) return failure(TW_EARG, "no rank serves");
    Status sizes;
    for (int c = 0; c < roles.n && sizes.ok(); ++c)
        sizes = roles.ranks[c] == 0 ? failure(TW_EARG, "component {} has no ranks", c)
                                    : check_size(roles, c);
    return agree(world, sizes);
}

/// Makes a communicator with the ranks of a component, in the component's order, followed by the
/// servers. Returns null on other ranks.
/// @note Collective over world
std::unique_ptr<Comm> ranks_and_servers(Comm& world, const Roles& roles, int c) {
    int key = world.size() + world.rank();
    if (roles.is_in(c)) MPI_Comm_rank(roles.comms[c], &key);
    return world.split(roles.is_in(c) || roles.serves ? 0 : -1, key);
}

/// Communicators that are made before the first session begins.
struct Prepared {
    /// For each component, a communicator of its ranks and the servers.
    std::vector<std::unique_ptr<Comm>> ranks;
    // Communicator of the servers; null on other ranks.
    std::unique_ptr<Comm> servers;
    std::unique_ptr<Transport> among;
    std::vector<Servers*> sessions;
};

/// Makes the communicators.
/// @note Collective over world
void prepare(Comm& world, const Roles& roles, Prepared& prepared) {
    for (int c = 0; c < roles.n; ++c) prepared.ranks.push_back(ranks_and_servers(world, roles, c));
    prepared.servers = world.split(roles.serves ? 0 : -1, world.rank());
    if (prepared.servers) prepared.among = make_mpi_transport(prepared.servers->handle());
}

/// Starts the sessions of all components, one after the other.
/// @return the same on every rank
/// @note Collective over world
Status start_all(Comm& world, const Roles& roles, Prepared& prepared, const char* settings,
                 tw_session* sessions) {
    Status mine;
    for (int c = 0; c < roles.n; ++c) {
        std::unique_ptr<Comm> ranks = std::move(prepared.ranks[c]);
        if (!ranks) continue;
        const int rank = ranks->rank();
        const auto ready = [&] {
            tw_session_impl::tell_of_abandoned(ranks->handle());
            return std::move(ranks);
        };
        const auto begin = [&] {
            return start(rank, ready, settings, sessions[c], roles.ranks.back());
        };
        const tw_status code = begin_session(&sessions[c], begin, "tw_init_components");
        if (code != TW_OK && mine.ok())
            mine = failure(static_cast<tw_status>(code), "component {}: {}", c,
                           tw_error_message(sessions[c]));
    }
    return agree(world, mine);
}

/// Ends the sessions that have begun. Servers return from this when all other ranks have ended
/// their sessions.
void give_up_all(const Roles& roles, const Status& why, tw_session* sessions) {
    for (int c = 0; c < roles.n; ++c) {
        if (sessions[c] == nullptr) continue;
        if (!roles.serves) sessions[c]->end();
        (void)report(sessions[c], why);
    }
}

/// Runs the servers until all sessions have ended. @note Collective over the servers
void serve_all(Prepared& prepared, const Roles& roles, const tw_session* sessions) {
    for (int c = 0; c < roles.n; ++c)
        if (sessions[c] != nullptr && sessions[c]->servers)
            prepared.sessions.push_back(sessions[c]->servers.get());
    if (!prepared.sessions.empty()) Servers::serve(prepared.sessions, prepared.among.get());
}

/// Starts the sessions of all components.
/// @return the same on every rank
/// @note Collective
Status begin_components(MPI_Comm comm, Roles& roles, const char* settings, tw_session* sessions) {
    const std::unique_ptr<Comm> world = make_mpi_comm(comm);
    if (Status s = check_roles(*world, roles, sessions); !s.ok()) return s;
    Prepared prepared;
    prepare(*world, roles, prepared);
    Status status = start_all(*world, roles, prepared, settings, sessions);
    if (!status.ok()) give_up_all(roles, status, sessions);
    if (prepared.servers) serve_all(prepared, roles, sessions);
    return status;
}

}  // namespace

extern "C" {

tw_status tw_init_components(MPI_Comm comm, int n, const MPI_Comm components[], int serves,
                             const char* settings, tw_session sessions[]) {
    const OwnArithmetic arithmetic;
    for (int c = 0; sessions != nullptr && c < n; ++c) sessions[c] = nullptr;
    Status status = check_communicator(comm);
    Roles roles{n, components, serves != 0, {}};
    if (status.ok()) try {
            status = begin_components(comm, roles, settings, sessions);
        } catch (const std::exception&) {
            int rank = 0;
            MPI_Comm_rank(comm, &rank);
            end_job(comm, rank, "tw_init_components", "", exception_status());
        }
    return keep_loose(std::move(status));
}

}  // extern "C"
#endif
