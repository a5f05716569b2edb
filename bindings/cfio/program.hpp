// A program that was written for CFIO, as one rank of it: its role, its session, its open files.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_CFIO_PROGRAM_HPP
#define THALWEG_CFIO_PROGRAM_HPP

#include <mpi.h>

#include <map>
#include <string>

#include "file.hpp"
#include "roles.hpp"

namespace thalweg::cfio {

class Program {
public:
    // Collective over MPI_COMM_WORLD. On a server it serves.
    void init(int x, int y, int ratio);
    // The first error that no cfio_close has returned. Collective over the clients.
    int finalize();
    int type() const { return type_; }

    // Collective over the clients.
    int create(const std::string& path, int cmode);
    // Returns whether all clients took part: they do not where the file has ended already.
    bool close(int id);
    // Files are complete some time after their close: throws the first failure of those that are by
    // now.
    void tell_late();

    // Local.
    File& file(int id);
    void end_io();

    // Says why a call failed, and keeps the code for cfio_close, or cfio_finalize where there is no
    // such file.
    int fail(const char* call, int file, const Error& error);

private:
    void start(const Roles& roles, int rank);
    std::string start_session(const Roles& roles, int rank);
    bool kept(const Roles& roles, int rank) const;
    void finish();
    void end_open_file(const std::string& path);
    void complete_files();
    void require_client() const;
    void remember(int code) {
        if (error_ == 0) error_ = code;
    }

    int type_ = CFIO_PROC_BLANK;
    bool running_ = false;  // between cfio_init and cfio_finalize
    int error_ = 0;
    MPI_Comm group_ = MPI_COMM_NULL;    // clients and servers
    MPI_Comm clients_ = MPI_COMM_NULL;  // belongs to the session
    tw_session session_ = nullptr;
    std::map<int, File> files_;
    std::map<int, Error> replaced_;  // files that ended because their paths were created again
    Error late_;                     // of a file that was closed, until tell_late()
    int last_id_ = 0;
};

}  // namespace thalweg::cfio

#endif
