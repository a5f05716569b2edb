// Sessions of the library, one per group of ranks. They outlive PIOc_finalize, because programs
// begin and end an iosystem for each file, and end with MPI_Finalize. Those with servers, of
// asynchronous I/O, belong to one iosystem and end with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <thalweg/thalweg.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "error.hpp"

namespace thalweg::pio {

class Grid;

class Session {
public:
    // @note Collective
    explicit Session(MPI_Comm comm);
    // One that has begun, with servers.
    Session(MPI_Comm comm, tw_session served);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    tw_session handle() const { return handle_; }
    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    bool is_served() const { return served_; }

    // Whether the library reads arrays that are put deferred when the ranks meet (service inline),
    // so that a copy in this layer saves one in the library. Only of use for speed.
    bool keeps_arrays() const;

    // tw_finalize. @note Collective
    int finalize();

    // Throws what the library returned.
    void check(int status, const std::string& where = "") const;

    // The decompositions described so far: the same description twice is one.
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    std::vector<std::pair<Key, std::shared_ptr<Grid>>> grids;
    std::int64_t grids_made = 0;  // ever, the same on every rank

private:
    tw_session handle_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, ranks_ = 1;
    bool served_ = false;

    void set_comm(MPI_Comm comm);
};

// What is done before the sessions end with MPI: files that are still open.
void at_end(void (*action)());

// The session of these ranks, in this order: a new one, or the one that there is.
// @note Collective
Session& session_of(MPI_Comm comm);

// Begins the sessions of components that share servers. On a server it returns when they have
// ended.
// @return those of the components that have a communicator here, null for others
// @note Collective over world
std::vector<Session*> begin_served(MPI_Comm world, const std::vector<MPI_Comm>& components,
                                   bool serves);

// Ends a session with servers. Errors are thrown. @note Collective
void end_served(Session& session);

// A line of the log at level info, on rank 0 of these ranks.
void inform(MPI_Comm comm, const std::string& text);

// Bytes that a rank may put before they must be handed over.
std::int64_t staging_limit();

}  // namespace thalweg::pio
