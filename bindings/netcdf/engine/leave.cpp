// Passing a file of the engine to the real library.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "files.hpp"
#include "nc/base/boxes.hpp"
#include "nc/base/types.hpp"
#include "nc/fallback/by_netcdf.hpp"

namespace thalweg::netcdf::engine {

namespace {

// Repeats settings of the program other than definitions. The real library may have been built
// without some of them.
void repeat_settings(int ncid, const nc::Table& definitions, File& file) {
    const Table& real = file_table();
    int old = 0;
    real.set_fill(ncid, file.definitions.fill_mode, &old);
    int varid = 0;
    for (const Variable& v : definitions.variables) {
        if (file.is_set_collective(varid)) real.var_par_access(ncid, varid, 1);  // NC_COLLECTIVE
        if (v.cache)
            real.set_var_chunk_cache(ncid, varid, static_cast<std::size_t>(v.cache->size),
                                     static_cast<std::size_t>(v.cache->elements),
                                     v.cache->preemption);
        varid++;
    }
}

// Copies the values of all variables to the file that the real library has for an id. Each rank
// copies a box of limited size at a time.
// @note Collective
void copy_values(File& from, int ncid) {
    const MPI_Comm comm = from.state.session.comm();
    const nc::Table& table = from.table();
    std::vector<std::size_t> start, count;
    std::string values;
    for (std::size_t i = 0; i < table.variables.size(); i++) {
        const Variable& v = table.variables[i];
        const auto varid = static_cast<int>(i);
        const auto size = static_cast<Index>(size_of(v.type));
        const Boxes boxes(table.lengths(v), size_of(v.type));
        from.set_access(varid, 1);  // NC_COLLECTIVE
        for (Index first = 0; first < boxes.number(); first += size_of_comm(comm)) {
            Error error = error_of([&] {
                boxes.get(first + rank_in(comm), start, count);
                values.resize(
                    static_cast<std::size_t>(volume({count.begin(), count.end()}) * size));
            });
            agree(comm, error);
            const Request request{varid, start.data(), count.data(), nullptr, nullptr, v.type};
            error = error_of([&] { from.get(request, values.data()); });
            agree(comm, error);
            const int code = file_table().put_vara(ncid, varid, start.data(), count.data(),
                                                   values.data(), v.type);
            agree(comm, {code, from.path() + ": variable " + v.name + ": copying failed"});
        }
    }
}

// Makes a complete file of the engine anew by the real library, with the same contents, and
// replaces it. Parallel HDF5 writes to new records and to what was never written only in files that
// it has created.
// @note Collective
void make_anew(int ncid, const nc::Table& definitions, File& file, const std::string& reason) {
    const MPI_Comm comm = file.state.session.comm();
    Call call = file.call();
    call.mode = NC_NOWRITE;
    const std::unique_ptr<File> old = File::open(call, comm);
    std::error_code none;
    const std::string path =
        broadcast(comm, 0, std::filesystem::weakly_canonical(file.path(), none).string());
    const std::string place = path + ".new";
    const auto check = [&](int code) {
        agree(comm, {code, path + ": netCDF-C cannot write the file anew"});
    };
    try {
        check(forward(ncid, place, NC_NETCDF4, true, reason));
        on_all(comm, [&] { define_all(file_table(), ncid, definitions, path); });
        if (!has_same_ids(file_table(), ncid, definitions))
            throw Error{NC_EINTERNAL, path + ": netCDF-C gives the definitions other ids"};
        check(file_table()._enddef(ncid, 0, 1, 0, 1));
        for (int v = 0; v < static_cast<int>(definitions.variables.size()); v++)
            check(file_table().var_par_access(ncid, v, 1));  // NC_COLLECTIVE
        copy_values(*old, ncid);
        for (int v = 0; v < static_cast<int>(definitions.variables.size()); v++)
            file_table().var_par_access(ncid, v, 0);  // fails if the variable has filters
        check(file_table().sync(ncid));
        on_rank(comm, 0, [&] {
            std::filesystem::permissions(place, std::filesystem::status(path).permissions(), none);
            if (std::rename(place.c_str(), path.c_str()) != 0)
                throw Error{errno, place + ": cannot be renamed"};
        });
    } catch (const Error&) {
        take_back(ncid);
        on_rank(comm, 0, [&] { unlink(place.c_str()); });
        // The program can close the file. It cannot put more, since parallel HDF5 would write some
        // of it wrongly.
        (void)forward(ncid, path, NC_NOWRITE, false, "");
        throw;
    }
    close(old->puts);
}

}  // namespace

int leave(int ncid, const std::string& reason) {
    File& own = file_of(ncid);
    const std::lock_guard lock(own.mutex());
    if (!own.is_netcdf4()) return NC_ENOTNC4;
    if (own.definitions.format != Format::netcdf4 || own.definitions.zarr) return NC_ESTRICTNC3;
    if (!own.definitions.is_writable()) return NC_EPERM;
    own.puts.join(Reason::leave);
    const bool empty = own.definitions.is_new();
    if (!own.call().create)  // the program has not chosen the storage
        for (std::size_t v = 0; v < own.table().variables.size(); v++)
            own.table().variables[v].storage =
                nc::inquire_storage(own.definitions, own.state, static_cast<int>(v));
    const nc::Table definitions = own.table();
    const bool defining = own.definitions.in_define_mode();
    const std::unique_ptr<File> file = remove_file(ncid);
    if (empty)
        discard(file->puts);
    else
        file->close_and_wait();
    if (!empty && file->call().parallel) {
        make_anew(ncid, definitions, *file, reason);
        repeat_settings(ncid, definitions, *file);
        return 0;
    }
    int code = forward(ncid, file->path(), empty ? file->call().mode : NC_WRITE, empty, reason);
    if (code == 0 && empty) define_all(file_table(), ncid, definitions, file->path());
    if (code == 0 && !has_same_ids(file_table(), ncid, definitions))
        throw Error{NC_EINTERNAL, file->path() + ": netCDF-C gives the definitions other ids"};
    if (code == 0) repeat_settings(ncid, definitions, *file);
    if (code == 0 && empty && !defining) code = file_table()._enddef(ncid, 0, 1, 0, 1);
    return code;
}

}  // namespace thalweg::netcdf::engine
