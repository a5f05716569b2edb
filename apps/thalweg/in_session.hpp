// Commands that read files in a session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>
#include <string>

#include "base/status.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::app {

/// Starts a session of all ranks that a launcher has started. @note Collective over MPI_COMM_WORLD
inline Session session_of_all(const std::string& settings = "") {
#ifdef THALWEG_SERIAL
    return Session::serial(settings);
#else
    return Session(MPI_COMM_WORLD, settings);
#endif
}

/// The ranks that run a command: all except those that the settings make servers.
struct Ranks {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 1;
};

/// Throws a failure, which must be the same on all ranks, as an Error.
inline void throw_failure(const detail::Status& status) {
    if (!status.ok()) throw Error(status.code, status.text);
}

/// Opens a file for reading and calls use(file). Closes the file afterwards, even if use() throws
/// an Error, which it must then throw on all ranks.
/// @note Collective
template <class Use>
void with_reader(Session& io, const std::string& path, Use&& use,
                 const std::string& settings = "") {
    Reader file = io.open(path, settings);
    try {
        use(file);
    } catch (const Error&) {
        file.close();
        throw;
    }
    file.close();
}

/**
 * Calls body(session, ranks), which returns the exit code. If body() throws an Error, which it must
 * then throw on all ranks, rank 0 prints it.
 * @param failed  exit code after an Error
 * @return exit code
 * @note Collective over MPI_COMM_WORLD
 */
template <class Body>
int in_session(const char* command, int failed, Body&& body) {
    Ranks ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    const auto print = [&](const Error& e) {
        if (ranks.rank == 0) fmt::print(stderr, "thalweg: {}: {}\n", command, e.what());
        return failed;
    };
    try {
        Session io = session_of_all();
        if (io.role() == Role::server) {
            io.finalize();
            return 0;
        }
#ifdef THALWEG_SERIAL
        ranks.comm = MPI_COMM_SELF;
#else
        ranks.comm = io.model_comm();
#endif
        MPI_Comm_rank(ranks.comm, &ranks.rank);
        MPI_Comm_size(ranks.comm, &ranks.size);
        int code = failed;
        try {
            code = body(io, ranks);
        } catch (const Error& e) {
            print(e);
        }
        io.finalize();  // needed even after an Error, because servers wait for it
        return code;
    } catch (const Error& e) {
        return print(e);
    }
}

}  // namespace thalweg::app
