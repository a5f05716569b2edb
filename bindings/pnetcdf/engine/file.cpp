// Files: how they are made and ended, and their modes.
//
// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/file.hpp"

#include <netcdf.h>
#include <sys/stat.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "pnetcdf/engine/calls.hpp"
#include "types.hpp"

namespace thalweg::pnetcdf::engine {

int code_for_program(const Error& error) {
    const char* const level = std::getenv("THALWEG_LOG");
    if (level != nullptr && (std::strcmp(level, "info") == 0 || std::strcmp(level, "debug") == 0))
        std::fprintf(stderr, "thalweg: info: PnetCDF's interface: %s (%d)\n", error.text.c_str(),
                     error.code);
    switch (error.code) {
        case ENOENT: return no_file;
        case ENOSPC: return no_space;
        case EDQUOT: return over_quota;
        case NC_EIO: return write_failed;
        default: return error.code > 0 ? bad_file : error.code;
    }
}

namespace {

Format format_of(int format) {
    switch (format) {
        case NC_FORMAT_64BIT_OFFSET: return Format::cdf2;
        case NC_FORMAT_64BIT_DATA: return Format::cdf5;
        default: return Format::cdf1;
    }
}

// Throws step_aside if the file cannot be created: then PnetCDF makes the call and returns its own
// code.
void check_place(const std::string& path, bool clobber) {
    const auto leave = [](const char* why) { throw Error{netcdf::step_aside, why}; };
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (access(path.c_str(), F_OK) == 0 && (!clobber || access(path.c_str(), W_OK) != 0))
        leave("the file exists");
    if (access(folder.c_str(), W_OK | X_OK) != 0) leave("the folder may not be written");
}

// Throws step_aside if there is no classic file that can be opened.
void check_there(const std::string& path, bool writable) {
    const auto leave = [](const char* why) { throw Error{netcdf::step_aside, why}; };
    if (access(path.c_str(), F_OK) != 0 && access((path + ".part").c_str(), F_OK) == 0)
        tw_recover(path.c_str(), TW_KEEP_LONGER, nullptr, 0);
    if (access(path.c_str(), writable ? R_OK | W_OK : R_OK) != 0) leave("it cannot be opened");
    char first[4] = {};
    std::ifstream(path, std::ios::binary).read(first, 4);
    const bool classic =
        std::memcmp(first, "CDF", 3) == 0 && (first[3] == 1 || first[3] == 2 || first[3] == 5);
    if (!classic) leave("it is no classic file");
}

bool is_strict() {
    const char* const relax = std::getenv("PNETCDF_RELAX_COORD_BOUND");
    return relax != nullptr && *relax == '0';
}

// Creates or opens a file. If the library cannot do so, stores in `call` the reason why PnetCDF
// must.
template <class Make>
std::shared_ptr<File> make(Call& call, Make action) try {
    return action();
} catch (const Error& error) {
    if (error.code == netcdf::step_aside) call.reason = error.text;
    throw;
}

}  // namespace

std::shared_ptr<File> File::create(Call& call) {
    return make(call, [&] {
        Session& session = session_of(call.comm);
        const std::lock_guard lock(session.mutex);
        const std::string path = broadcast(call.comm, 0, call.path);
        session.check(tw_wait(session.handle(), 0));
        const bool clobber = (call.mode & NC_NOCLOBBER) == 0;
        on_rank(call.comm, 0, [&] { check_place(path, clobber); });
        std::shared_ptr<File> file(new File(session, path));
        file->keep(call);
        file->Dataset::create(format_of(call.format), true);
        return file;
    });
}

std::shared_ptr<File> File::open(Call& call) {
    return make(call, [&] {
        Session& session = session_of(call.comm);
        const std::lock_guard lock(session.mutex);
        const std::string path = broadcast(call.comm, 0, call.path);
        const bool writable = (call.mode & NC_WRITE) != 0;
        session.check(tw_wait(session.handle(), 0));
        on_rank(call.comm, 0, [&] { check_there(path, writable); });
        std::shared_ptr<File> file(new File(session, path));
        file->keep(call);
        file->Dataset::open(writable);
        file->fill_mode_ = NC_NOFILL;
        file->placed_by_program_ = false;
        return file;
    });
}

void File::keep(const Call& call) {
    call_ = call;
    if (call.info != MPI_INFO_NULL) MPI_Info_dup(call.info, &hints_);
    strict_bounds_ = is_strict();
}

File::~File() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (hints_ != MPI_INFO_NULL && ended == 0) MPI_Info_free(&hints_);
}

Variable& File::variable_of(int varid) {
    if (varid == NC_GLOBAL) throw Error{NC_EGLOBAL, path_ + ": NC_GLOBAL is no variable"};
    return table_.variable(varid);
}

Index File::length_of(int dimid) {
    const Index length = table_.dimension(dimid).length;
    return dimid == table_.unlimited() ? records() : length;
}

Places File::places() {
    if (placed_by_program_) return places_of(table_, format());
    return read_places(access(path_.c_str(), R_OK) == 0 ? path_ : path_ + ".part");
}

// ---- modes --------------------------------------------------------------------------------------

void File::redef() {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    QueuedFile::redef();
    independent_ = false;
}

void File::enddef() {
    if (!define_) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    if (!is_new() && !edits_.empty()) placed_by_program_ = false;
    QueuedFile::enddef();
    independent_ = false;
}

// After this call, independent gets see all data that any rank has put before.
void File::begin_independent() {
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (independent_) return;
    independent_ = true;
    if (!writable_) return;
    write_puts();
    if (!is_new()) Dataset::sync();
}

void File::end_independent() {
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (!independent_) return;
    independent_ = false;
    if (writable_) write_puts();
}

void File::sync_records() {
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (writable_ && independent_) write_puts();
}

int File::end(bool abort) {
    const bool left = !requests_.empty();
    if (left && !abort)
        std::fprintf(stderr, "thalweg: %s: rank %d closes it with %d requests, which are dropped\n",
                     path_.c_str(), session_.rank(), pending());
    requests_.clear();
    if (abort)
        QueuedFile::abort();
    else
        QueuedFile::close();
    return left && !abort ? requests_pending : NC_NOERR;
}

// ---- calls --------------------------------------------------------------------------------------

int begin(Call& call, std::shared_ptr<File>* file) {
    static std::atomic<long> opened{0};
    return attempt([&] {
        *file = call.create ? File::create(call) : File::open(call);
        (*file)->opened = opened++;
    });
}

int end(std::shared_ptr<File>& file, bool abort) {
    const int code = on(*file, [&] { return file->end(abort); });
    // Keep the file: closing it is collective, and the other ranks make other calls.
    if (file->is_mixed()) new std::shared_ptr<File>(file);
    file.reset();
    return code;
}

}  // namespace thalweg::pnetcdf::engine
