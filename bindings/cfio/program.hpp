// The state of a CFIO program on one rank: its role, its session, its open files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "file.hpp"
#include "roles.hpp"

namespace thalweg::cfio {

class Program {
public:
    // Starts the program. On a server, works until the clients end. Collective over MPI_COMM_WORLD.
    void init(int x, int y, int ratio);
    // Returns the first error that no cfio_close has returned. Collective over the clients.
    int finalize();
    int type() const { return type_; }

    // Collective over the clients.
    int create(const std::string& path, int cmode);
    // Closes a file. Collective over the clients. Returns false if some client did not take part,
    // because the file has already ended there.
    bool close(int id);
    // Throws the first error of the files that have become complete. A file becomes complete some
    // time after its close.
    void tell_late();

    // Ends a step of each open file whose clients have called cfio_io_end after their last blocks,
    // so that its records are counted. Collective over the clients, at the end of their calls.
    void end_steps();

    // Returns an open file. Local.
    File& file(int id);
    void end_io();

    // Prints the reason of a failure. Keeps the code of the failure for cfio_close of that file,
    // or, if there is no such file, for cfio_finalize.
    int fail(const char* call, int file, const Error& error);

private:
    void start(const Roles& roles, int rank);
    std::string start_session(const Roles& roles, int rank);
    bool kept(const Roles& roles, int rank) const;
    void finish();
    void end_open_file(const std::string& path);
    void complete_files(std::int64_t left);
    void require_client() const;
    void remember(int code) {
        if (error_ == 0) error_ = code;
    }

    int type_ = CFIO_PROC_BLANK;
    bool running_ = false;  // between cfio_init and cfio_finalize
    int error_ = 0;
    MPI_Comm group_ = MPI_COMM_NULL;    // communicator of clients and servers
    MPI_Comm clients_ = MPI_COMM_NULL;  // communicator of the clients; belongs to the session
    tw_session session_ = nullptr;
    std::map<int, File> files_;
    // Errors of files that were replaced because their path was created again.
    std::map<int, Error> replaced_;
    Error late_;  // error of a closed file, until tell_late() throws it
    int last_id_ = 0;
};

}  // namespace thalweg::cfio
