// Creates and opens files.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <sys/stat.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "file.hpp"
#include "files.hpp"

namespace thalweg::netcdf::engine {

namespace {

// Throws netCDF's error if no file can be created at a path.
void check_place(const std::string& path, bool netcdf4) {
    struct stat info {};
    const bool exists = stat(path.c_str(), &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) throw Error{step_aside, "it is not a regular file"};
    if (exists && access(path.c_str(), W_OK) != 0)
        throw Error{EACCES, path + ": " + std::strerror(errno)};
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (stat(folder.c_str(), &info) != 0)
        throw Error{netcdf4 ? EACCES : errno, path + ": " + std::strerror(errno)};
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw Error{step_aside, "the folder may not be written"};
}

// Returns the path of the data. A file that this process is writing can be read, too; its data have
// another path.
std::string place_to_read(Session& session, const Call& call, const std::string& path) {
    File* const own = find_written(path);
    std::string place = path;
    on_all(session.comm(), [&] {
        if (own == nullptr) return;
        if ((call.mode & NC_WRITE) != 0 || own->state.kind() == State::Kind::fallback)
            throw Error{NC_EPERM, path + " is open and cannot be opened a second time in this way"};
    });
    if (own != nullptr && &own->state.session == &session) (void)error_of([&] { own->sync(); });
    if (own != nullptr) place = own->place();
    return broadcast(session.comm(), 0, place);
}

bool has_strings(int ncid, int varid, int attributes) {
    for (int a = 0; a < attributes; a++) {
        char name[NC_MAX_NAME + 1];
        nc_type type = NC_NAT;
        if (nc_inq_attname(ncid, varid, a, name) != NC_NOERR) return true;
        if (nc_inq_atttype(ncid, varid, name, &type) != NC_NOERR || type >= NC_STRING) return true;
    }
    return false;
}

std::string beyond(int ncid, std::string& unfilled) {
    int n = 0, dims = 0, vars = 0, attributes = 0, unlimited = -1;
    if (nc_inq_grps(ncid, &n, nullptr) != NC_NOERR || n > 0) return "the file has groups";
    if (nc_inq_typeids(ncid, &n, nullptr) != NC_NOERR || n > 0) return "the file has user types";
    if (nc_inq_unlimdims(ncid, &n, nullptr) != NC_NOERR || n > 1)
        return "the file has several unlimited dimensions";
    nc_inq(ncid, &dims, &vars, &attributes, &unlimited);
    if (has_strings(ncid, NC_GLOBAL, attributes)) return "an attribute has strings";
    for (int v = 0; v < vars; v++) {
        char name[NC_MAX_NAME + 1];
        nc_type type = NC_NAT;
        std::vector<int> ids(NC_MAX_VAR_DIMS);
        nc_inq_var(ncid, v, name, &type, &n, ids.data(), &attributes);
        const std::string variable = std::string("variable '") + name + "'";
        if (type >= NC_STRING) return variable + " has strings or a user type";
        if (has_strings(ncid, v, attributes)) return "an attribute of " + variable + " has strings";
        int no_fill = 0, layout = 0;
        nc_inq_var_chunking(ncid, v, &layout, nullptr);
        if (layout == NC_COMPACT) return variable + " is compact";
        nc_inq_var_fill(ncid, v, &no_fill, nullptr);
        unfilled += no_fill != 0 ? '1' : '0';
        for (int d = 1; d < n; d++)
            if (ids[static_cast<std::size_t>(d)] == unlimited)
                return "the record dimension of " + variable + " is not the first";
    }
    return "";
}

// Returns the reason why the engine cannot open a file; empty if it can, and also if netCDF-C
// cannot open the file as netCDF-4. Called on one rank.
// @param unfilled  receives a character for each variable of a netCDF-4 file: 1 if it has no fill
//                  value
std::string beyond_engine(const std::string& path, std::string& unfilled) {
    int ncid = -1, format = 0;
    if (nc_open(path.c_str(), NC_NOWRITE, &ncid) != NC_NOERR) return "";
    nc_inq_format(ncid, &format);
    const bool netcdf4 = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
    std::string reason = netcdf4 ? beyond(ncid, unfilled) : "";
    nc_close(ncid);
    return reason;
}

}  // namespace

std::unique_ptr<File> File::create(Call& call, MPI_Comm comm) {
    Session& session = session_of(comm);
    const std::lock_guard lock(session.mutex);
    const std::string path = broadcast(comm, 0, call.path);
    std::unique_ptr<File> file(new File(session, path));
    Definitions& definitions = file->definitions;
    definitions.zarr = session.setting("format") == name_of(Format::zarr);
    definitions.format = definitions.zarr ? Format::netcdf4 : format_numbered(call.format);
    const bool netcdf4 = definitions.is_netcdf4();
    session.check(tw_wait(session.handle(), 0));
    on_rank(comm, 0, [&] { check_place(path, netcdf4); });
    file->call_ = call;
    definitions.fill_mode = NC_FILL;
    definitions.fill_is_free = !netcdf4;
    try {
        file->state.create((call.mode & NC_NOCLOBBER) == 0);
    } catch (const Error& error) {
        if (error.code != NC_EPERM || !netcdf4) throw;
        throw Error{EACCES, error.text};  // another process writes the file
    }
    return file;
}

std::unique_ptr<File> File::open(Call& call, MPI_Comm comm) {
    Session& session = session_of(comm);
    const std::lock_guard lock(session.mutex);
    const std::string name = broadcast(comm, 0, call.path);
    const std::string path = place_to_read(session, call, name);
    std::unique_ptr<File> file(new File(session, path));
    session.check(tw_wait(session.handle(), 0));
    std::string beyond, unfilled;
    on_rank(comm, 0, [&] {
        if (path == name) recover_killed(path);
        struct stat info {};
        const bool store = access((path + "/zarr.json").c_str(), F_OK) == 0;
        if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !store)
            beyond = "it is not a regular file";
        else
            beyond = beyond_engine(path, unfilled);
    });
    beyond = broadcast(comm, 0, beyond);
    if (!beyond.empty()) throw Error{step_aside, beyond};
    file->call_ = call;
    file->state.open((call.mode & NC_WRITE) != 0);
    unfilled = broadcast(comm, 0, unfilled);
    auto& variables = file->table().variables;
    for (std::size_t v = 0; v < std::min(variables.size(), unfilled.size()); v++)
        variables[v].storage.no_fill = unfilled[v] == '1';
    file->definitions.fill_is_free = !file->is_netcdf4();
    file->settle();
    return file;
}

}  // namespace thalweg::netcdf::engine
