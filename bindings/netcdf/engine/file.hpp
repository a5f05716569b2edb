// A file of a netCDF program: the rules of netCDF-C, with its codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "front/table.hpp"
#include "nc/queue/puts.hpp"

namespace thalweg::netcdf::engine {

using namespace nc;

// The arguments of a put or a get; stride and map may be null.
struct Request {
    int varid;
    Lengths start, count;
    Steps stride, map;
    int type;  // type of the values in memory; NC_NAT: that of the variable
};

class File {
public:
    // @note create() and open() are collective over the communicator of the call
    static std::unique_ptr<File> create(Call& call, MPI_Comm comm);
    static std::unique_ptr<File> open(Call& call, MPI_Comm comm);

    Definitions definitions;
    State state;
    Puts puts{definitions, state};
    int ncid = 0;     // the id that the program has
    long opened = 0;  // position among all files that the process has opened

    Call& call() { return call_; }
    const std::string& path() const { return definitions.path; }
    nc::Table& table() { return definitions.table; }
    bool is_netcdf4() const { return definitions.is_netcdf4(); }
    std::recursive_mutex& mutex() { return state.session.mutex; }
    bool is_set_collective(int varid) const;  // the program has chosen collective access
    std::string place() const;                // path of the data while the file is being written

    // Functions for definitions, with the meaning that they have in netCDF.
    void enddef();
    int def_dim(const std::string& name, std::size_t length);
    int def_var(const std::string& name, int type, std::vector<int> dims);
    // @return NC_ERANGE if values do not fit; they are stored as fill values; otherwise 0
    int put_att(int varid, const std::string& name, int type, std::size_t n, const void* values,
                int memory_type);
    Index length_of(int dimid);
    // Returns the storage of a variable, so that it can be changed.
    Storage& storage_to_change(int varid);
    Storage storage_of(int varid);
    void set_access(int varid, int access);

    // Functions for data. They throw errors.
    // @return NC_ERANGE if values do not fit; otherwise 0
    // @note Collective, if the variable's access is
    int put(Request request, const void* values);
    int get(Request request, void* values);
    void sync();
    void close_and_wait();  // closes the file, and waits until it is complete

private:
    File(Session& session, std::string path);

    Call call_;
    // For each variable, whether its access is collective. In a classic file all variables have the
    // same access.
    std::vector<bool> collective_;
    std::size_t settled_ = 0;  // number of variables that were defined when definitions last ended
    std::size_t ended_ = 0;    // the same by a call of the program; a put ends them, too

    bool is_collective(int varid) const;
    bool is_known(int varid) const;
    bool calls_together(int varid) const;
    void need_data_mode();
    Variable& variable_for_data(int varid);
    void settle();
};

}  // namespace thalweg::netcdf::engine
