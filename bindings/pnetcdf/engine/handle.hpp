// The state of one id of a program. Several ids can belong to the same file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "front/table.hpp"
#include "pnetcdf/engine/codes.hpp"
#include "pnetcdf/engine/data/selection.hpp"

namespace thalweg::pnetcdf::engine {

using netcdf::Call;

// A request that is not completed yet.
struct Request {
    int id = 0;
    bool puts = false;
    Index buffered = 0;  // bytes of the attached buffer that the request uses
    Selection selection;
    const char* values = nullptr;  // values to put, in the variable's type
    std::unique_ptr<char[]> own;   // copy of the values
};

struct Handle {
    explicit Handle(const Call& call);
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    std::string path;                // path as the program has passed it
    MPI_Info hints = MPI_INFO_NULL;  // a copy: the program frees its own
    bool writable;
    bool defines;              // this id is in define mode
    bool independent = false;  // this id is in independent data mode
    int fill_mode = NC_NOFILL;
    std::vector<Request> requests;
    Index buffer = -1;       // size of the attached buffer in bytes; -1: there is none
    Index put = 0, got = 0;  // number of bytes that this id has put and got

    void need_write() const;
    void need_define() const;
    void need_data() const;  // throws if the id is in define mode
    // Throws unless the id is in the data mode of a call.
    // @param together  collective
    void need_mode(bool together) const;
    // Returns the number that a hint of the program or of the environment sets; 0 if there is none.
    Index hint(const char* name) const;
    // The attached buffer, of which only the use is counted.
    void attach(Index bytes);
    void detach();
    Index buffer_size() const;
    Index buffer_usage() const;
};

}  // namespace thalweg::pnetcdf::engine
