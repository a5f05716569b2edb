// Files: creating, opening and ending them, and their modes.
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
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/ignore_sigxfsz.hpp"
#include "pnetcdf/engine/calls.hpp"
#include "ranks.hpp"
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
        case EFBIG:
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

// Throws step_aside if the file cannot be created, so that PnetCDF makes the call and returns its
// own code.
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

// Makes a file. If PnetCDF has to make it instead, stores the reason in the call.
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
        file->Dataset::open(writable);
        file->placed_by_program_ = false;
        return file;
    });
}

Handle::Handle(const Call& call)
    : path(call.path), writable(call.create || (call.mode & NC_WRITE) != 0), defines(call.create) {
    if (call.info != MPI_INFO_NULL) MPI_Info_dup(call.info, &hints);
    const char* const more = std::getenv("PNETCDF_HINTS");
    std::istringstream list(more == nullptr ? "" : more);
    for (std::string item; std::getline(list >> std::ws, item, ';');) {
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos || equals == 0 || equals > MPI_MAX_INFO_KEY ||
            equals + 1 == item.size())
            continue;
        if (hints == MPI_INFO_NULL) MPI_Info_create(&hints);
        MPI_Info_set(hints, item.substr(0, equals).c_str(), item.substr(equals + 1).c_str());
    }
}

Handle::~Handle() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (hints != MPI_INFO_NULL && ended == 0) MPI_Info_free(&hints);
}

bool File::is_strict() {
    const char* const relax = std::getenv("PNETCDF_RELAX_COORD_BOUND");
    return relax != nullptr && *relax == '0';
}

void File::need_write() const {
    if (!handle_->writable) throw Error{NC_EPERM, path_ + " is open for reading"};
}

void File::need_define() const {
    need_write();
    if (!handle_->defines) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
}

Variable& File::variable_of(int varid) {
    if (varid == NC_GLOBAL) throw Error{NC_EGLOBAL, path_ + ": NC_GLOBAL is no variable"};
    return table_.variable(varid);
}

Index File::length_of(int dimid) {
    const Index length = table_.dimension(dimid).length;
    return dimid == table_.unlimited() ? records() : length;
}

namespace {

// Returns a setting that keeps the places of data from being those of PnetCDF; null if there is
// none.
const char* setting_of_places() {
    for (const char* const setting : {"THALWEG_FORMAT", "THALWEG_FILES"})
        if (std::getenv(setting) != nullptr) return setting;
    return nullptr;
}

}  // namespace

Places File::places() {
    if (placed_by_program_) {
        if (const char* const setting = setting_of_places())
            throw Error{not_supported, path_ + ": " + setting +
                                           " is set, so that the places of the data are not those "
                                           "of PnetCDF"};
        return is_new() || places_.begin.empty() ? places_of(table_, format(), spacing()) : places_;
    }
    return read_places(access(path_.c_str(), R_OK) == 0 ? path_ : path_ + ".part");
}

// Computes the places of the data, and replaces them by the root's: the file gets the attributes of
// the root, which may be longer than those of this rank.
// @note Collective
void File::laid_out() {
    remember_definitions();
    places_ = places_of(table_, format(), spacing());
    share(comm(), root_, &places_.extent, 1);
    share(comm(), root_, places_.begin.data(), places_.begin.size());
}

// Extends a new file to the end of its fixed-size variables, so that a rank can read them before
// all ranks have written.
void File::extend() {
    if (state_ != State::writing || places_.begin.empty() || setting_of_places() != nullptr) return;
    on_rank(comm(), root_, [&] {
        const std::string part = path_ + ".part";
        const std::string& path = access(part.c_str(), W_OK) == 0 ? part : path_;
        struct stat now {};
        const detail::IgnoreSigxfsz guard;
        if (stat(path.c_str(), &now) == 0 && now.st_size < places_.fixed_end &&
            truncate(path.c_str(), places_.fixed_end) != 0)
            throw Error{errno, path + ": " + std::strerror(errno)};
    });
}

// ---- modes --------------------------------------------------------------------------------------

void File::redef() {
    need_write();
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    QueuedFile::redef();
    handle_->defines = true;
    handle_->independent = false;
}

Index File::hint(const char* name) const {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (handle_->hints != MPI_INFO_NULL)
        MPI_Info_get(handle_->hints, name, MPI_MAX_INFO_VAL, value, &found);
    return found == 0 ? 0 : std::max(std::atoll(value), 0LL);
}

void File::set_places(const detail::HeaderPadding& asked) {
    if (!is_new()) {
        placed_by_program_ = placed_by_program_ && edits_.empty();
        return;
    }
    constexpr Index usual = 512;
    const auto first = [](Index a, Index b) { return a > 0 ? a : b; };
    const Index header = hint("nc_header_align_size"), vars = hint("nc_var_align_size");
    detail::HeaderPadding s = asked;
    s.var_align = first(std::max(header, vars), first(asked.var_align, usual));
    s.record_align = first(hint("nc_record_align_size"), asked.record_align);
    set_spacing(s);
    if (format_ != Format::cdf1) return;
    for (const Index begin : places_of(table_, format(), s).begin)
        if (begin > INT32_MAX)
            throw Error{NC_EVARSIZE,
                        path_ + ": a variable begins beyond 2 GiB; use CDF-2 or CDF-5"};
}

void File::enddef(const detail::HeaderPadding& asked) {
    if (!handle_->defines) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    set_places(asked);
    QueuedFile::enddef();
    handle_->defines = handle_->independent = false;
}

// After this call, independent gets see all data that any rank has put before, and each rank can
// write large sections at once.
void File::begin_independent() {
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (handle_->independent) return;
    handle_->independent = true;
    if (!writable_) return;
    write_puts();
    if (is_new()) begin_writing();  // then a rank can write by itself
    Dataset::sync();
    extend();
}

void File::end_independent() {
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (!handle_->independent) return;
    handle_->independent = false;
    if (writable_) write_puts();
}

void File::sync_records() {
    if (define_) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (writable_ && handle_->independent) write_puts();
}

int File::end(bool abort, bool last) {
    const bool left = !handle_->requests.empty();
    if (left && !abort)
        std::fprintf(stderr, "thalweg: %s: rank %d closes it with %d requests, which are dropped\n",
                     path_.c_str(), session_.rank(), pending());
    handle_->requests.clear();
    if (!last) {
        if (handle_->defines && abort) undo_definitions();
        if (handle_->defines && !abort) enddef();
    } else if (abort) {
        QueuedFile::abort();
    } else {
        const Error places = error_of([&] {
            if (handle_->defines) set_places(usual_spacing());
        });
        const Error closing = error_of([&] { QueuedFile::close(); });
        if (is_replaced_) on_rank(comm(), root_, [&] { unlink(path_.c_str()); });
        if (places.code != 0) throw places;
        if (closing.code != 0) throw closing;
    }
    return left && !abort ? requests_pending : NC_NOERR;
}

void File::give_up_name() {
    define_ = false;
    if (writable_) {
        write_puts();
        begin_reading();
    }
    close_alone();
    complete();
    const std::string name = path_ + "." + std::to_string(number()) + ".replaced";
    on_rank(comm(), root_, [&] {
        // Other ids may have opened the file by its name, too.
        if (link(path_.c_str(), name.c_str()) != 0)
            throw Error{errno, path_ + ": " + std::strerror(errno)};
    });
    path_ = name;
    is_replaced_ = true;
    open_for_reading();
    dirty_ = false;
}

// ---- calls --------------------------------------------------------------------------------------

int begin(Call& call, std::shared_ptr<File>* file) {
    static std::atomic<long> opened{0};
    return attempt([&] {
        *file = call.create ? File::create(call) : File::open(call);
        (*file)->opened = opened++;
    });
}

int use_again(const Call& call, const std::shared_ptr<File>& file) {
    if (call.create && (call.mode & NC_NOCLOBBER) != 0) return NC_EEXIST;
    return on(*file, [&] {
        if (call.create) file->give_up_name();
        const bool has_header = !file->is_new() || file->has_ended_definitions();
        return has_header ? NC_NOERR : bad_file;
    });
}

int end(std::shared_ptr<File>& file, Handle& handle, bool abort) {
    const int code = on(*file, [&] {
        file->use(handle);
        return file->end(abort, file.use_count() == 1);
    });
    // Never destroy a file if other ranks are in calls for other files, because its destructor is
    // collective.
    if (file->is_mixed()) new std::shared_ptr<File>(file);
    file.reset();
    return code;
}

}  // namespace thalweg::pnetcdf::engine
