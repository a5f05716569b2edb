// Sessions of the library, one per group of ranks. They outlive the files, because programs open
// many in turn, and end with MPI_Finalize, or, without MPI, with the process. Sessions with
// servers, for asynchronous I/O, belong to one user and end with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <thalweg/thalweg.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "nc/base/error.hpp"
#include "nc/base/hash.hpp"
#include "nc/base/lanes.hpp"

namespace thalweg::nc {

// Name of the interface for messages. Each interface defines its own.
extern const char* const interface_name;

class Session {
public:
    // Starts a session.
    // @note Collective
    // @param comm  MPI_COMM_NULL: a session of this process alone, which needs no MPI
    explicit Session(MPI_Comm comm);
    // Takes over a session with servers that was started before.
    Session(MPI_Comm comm, tw_session served);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    tw_session handle() const { return handle_; }
    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    bool is_served() const { return served_; }
    // Returns a setting of the session, from its configuration file or the environment.
    const std::string& setting(const char* name) const;
    // Tests if the session ends in MPI_Finalize. A session that began without MPI ends when the
    // process exits.
    bool ends_with_mpi() const { return ends_with_mpi_; }

    // Tests if the library reads deferred arrays only in its collective calls (service inline).
    // Values that this layer packs are then not copied again. Affects only the speed.
    bool keeps_arrays() const;

    // Returns lanes in memory that the ranks share; null if they share none.
    // @note Collective
    Lanes* lanes();

    // Calls tw_finalize.
    // @note Collective
    int finalize();

    // Throws if a library call returned an error status.
    void check(int status) const;
    // Returns the error of the last library call, with its status. After a failed write to a disk
    // that is full, its code is the system's.
    Error error_of_call(int status) const;

    // Must be locked to use the session or its files, as several threads may have files.
    std::recursive_mutex mutex;
    std::int64_t files_made = 0;  // number of files so far, the same on every rank
    // Number of joint writes so far in which a file became readable for each rank alone.
    std::int64_t commits = 0;
    // Some rank has put or read without the others, in any file. The same on every rank.
    bool works_alone = false;

    // Data of an interface, kept until the session ends.
    std::shared_ptr<void> kept;
    // Decompositions for put sections, keyed by a hash of all ranks' boxes. NULL if the boxes
    // overlap.
    std::map<Key, tw_decomposition> decompositions;
    std::int64_t decompositions_freed = 0;  // number of times that all of these decompositions were
                                            // freed

private:
    tw_session handle_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, ranks_ = 1;
    std::unique_ptr<Lanes> lanes_;
    bool asked_for_lanes_ = false;
    bool served_ = false, ends_with_mpi_ = true;

    void set_comm(MPI_Comm comm);
};

// Registers an action that runs before sessions end, for their files that are still open.
// @param action  its argument is true for sessions that end in MPI_Finalize, and false for the
//                others
void at_end(void (*action)(bool with_mpi));

// Returns the session of the ranks of a communicator. Starts it if there is none.
// @param comm  MPI_COMM_NULL: the session of this process alone, which needs no MPI
// @note Collective
Session& session_of(MPI_Comm comm);
// Returns an existing session; null if there is none. Local.
Session* find_session(MPI_Comm comm);

// Starts the sessions of components that share servers. On a server, the function returns when all
// of them have ended.
// @return the session of each component; null if this rank is not in the component
// @note Collective over world
std::vector<Session*> begin_served(MPI_Comm world, const std::vector<MPI_Comm>& components,
                                   bool serves);

// Ends a session with servers. Throws its errors.
// @note Collective
void end_served(Session& session);

// Logs a line at level info on rank 0 of these ranks.
void inform(MPI_Comm comm, const std::string& text);
// Logs an error at level info.
void inform(const char* interface, const Error& error);
// Prints that files are incomplete, as the process exits without MPI_Finalize.
// @param path  the first of them
void tell_incomplete(const std::string& path, bool others);

// Completes the file that a killed run left, if there is no file of this name. Called on one rank.
void recover_killed(const std::string& path);

// Returns the number of bytes that a rank may put before they must be passed to the library.
std::int64_t staging_limit();

}  // namespace thalweg::nc
