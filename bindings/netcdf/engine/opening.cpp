// Creates and opens files.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "contents.hpp"
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

}  // namespace

std::unique_ptr<File> File::create(Call& call, MPI_Comm comm) {
    Session& session = session_of(comm);
    const std::lock_guard lock(session.mutex);
    const std::string path = broadcast(comm, 0, call.path);
    std::unique_ptr<File> file(new File(session, path));
    Definitions& definitions = file->definitions;
    definitions.format = format_numbered(call.format);
    const bool netcdf4 = definitions.is_netcdf4();
    session.check(tw_wait(session.handle(), 0));
    try {
        on_rank(comm, 0, [&] { check_place(path, netcdf4); });
    } catch (const Error& error) {
        if (error.code == step_aside) call.reason = error.text;
        throw;
    }
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
        if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
            beyond = "it is not a regular file";
        else
            beyond = beyond_engine(path, unfilled);
    });
    beyond = broadcast(comm, 0, beyond);
    if (!beyond.empty()) {
        call.reason = beyond;
        throw Error{step_aside, path + ": " + beyond};
    }
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
