// An open file, as one client sees it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "definitions.hpp"
#include "error.hpp"

namespace thalweg::cfio {

// Blocks that a client has put since its last step: none; some, then cfio_io_end; some since then.
enum class Blocks { none, ended, open };

class File {
public:
    File(int id, std::string path, tw_session session, MPI_Comm clients, tw_file handle)
        : id_(id), path_(std::move(path)), session_(session), clients_(clients), handle_(handle) {}

    // Returns the path that the program has passed.
    const std::string& path() const { return path_; }

    // Definitions. Local. Ids are counted from 1 on each client; if a name is defined twice, its
    // first definition counts.
    int def_dim(const std::string& name, std::size_t length);
    int def_var(const std::string& name, int type, const std::vector<int>& dims);
    int find_var(const std::string& name);  // Returns the id of a variable; 0 if there is none.
    void put_att(int varid, Attribute att);
    void put_box(int varid, int ndims, const std::size_t* start, const std::size_t* count,
                 tw_type type, const void* data);
    void end_io();
    Blocks blocks() const { return blocks_; }

    // Registers a second number by which the program may refer to a variable (see cfio_fortran.c).
    void also_called(int number, int varid);

    // Collective over the clients. After a failed close the file may still be open, because other
    // clients were in another call.
    void enddef();
    void end_step();
    void close();
    bool is_open() const { return handle_ != nullptr; }

    // Keeps the first error of this client until the file is closed.
    void remember(int code) {
        if (error_ == 0) error_ = code;
    }

private:
    const Variable& variable(int id) const;
    Outcome agree_on(Call call);
    void define(bool alike);

    int id_;
    std::string path_;
    tw_session session_;
    MPI_Comm clients_;
    tw_file handle_;
    Definitions known_;    // the definitions to which ids refer
    Definitions pending_;  // definitions that have not been passed to the library yet
    std::map<int, int> aliases_;
    bool defined_ = false;
    Blocks blocks_ = Blocks::none;
    int error_ = 0;
};

}  // namespace thalweg::cfio
