// Files: creating, opening and ending them, and their modes.
//
// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/file.hpp"

#include <netcdf.h>
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

#include "nc/base/ranks.hpp"
#include "nc/base/types.hpp"

namespace thalweg::pnetcdf::engine {

int code_for_program(const Error& error) {
    inform("PnetCDF's interface", error);
    switch (error.code) {
        case ENOENT: return NC_ENOENT;
        case ENOSPC: return NC_ENO_SPACE;
        case EDQUOT: return NC_EQUOTA;
        case EFBIG:
        case NC_EIO: return NC_EWRITE;
        default: return error.code > 0 ? NC_EFILE : error.code;
    }
}

namespace {

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
    recover_killed(path);
    if (access(path.c_str(), writable ? R_OK | W_OK : R_OK) != 0) leave("it cannot be opened");
    char first[4] = {};
    std::ifstream(path, std::ios::binary).read(first, 4);
    const bool classic =
        std::memcmp(first, "CDF", 3) == 0 && (first[3] == 1 || first[3] == 2 || first[3] == 5);
    if (!classic) leave("it is no classic file");
}

}  // namespace

std::shared_ptr<File> File::create(Call& call) {
    Session& session = session_of(call.comm);
    const std::lock_guard lock(session.mutex);
    const std::string path = broadcast(call.comm, 0, call.path);
    session.check(tw_wait(session.handle(), 0));
    if (session.setting("format") == name_of(Format::zarr))
        throw Error{NC_ENOTSUPPORT, path + ": PnetCDF's interface has no format zarr"};
    const bool clobber = (call.mode & NC_NOCLOBBER) == 0;
    on_rank(call.comm, 0, [&] { check_place(path, clobber); });
    std::shared_ptr<File> file(new File(session, path, true));
    file->definitions.format = format_numbered(call.format);
    file->state.create(true);
    return file;
}

std::shared_ptr<File> File::open(Call& call) {
    Session& session = session_of(call.comm);
    const std::lock_guard lock(session.mutex);
    const std::string path = broadcast(call.comm, 0, call.path);
    const bool writable = (call.mode & NC_WRITE) != 0;
    session.check(tw_wait(session.handle(), 0));
    on_rank(call.comm, 0, [&] { check_there(path, writable); });
    std::shared_ptr<File> file(new File(session, path, false));
    file->state.open(writable);
    return file;
}

File::File(Session& session, std::string path, bool is_new)
    : definitions(std::move(path), Definitions::Attributes::of_each),
      layout(session, definitions, is_new),
      state(session, definitions, 0, "", State::Existing::by_library, &layout) {}

void File::use(Handle& handle) {
    handle_ = &handle;
    transfers.use(handle);
    definitions.set_define_mode(handle.defines);
}

Index File::length_of(int dimid) {
    const Index length = table().dimension(dimid).length;
    return dimid == table().unlimited() ? puts.records() : length;
}

// ---- modes --------------------------------------------------------------------------------------

void File::redef() {
    handle_->need_write();
    definitions.begin();
    handle_->defines = true;
    handle_->independent = false;
}

void File::set_layout(const detail::HeaderPadding& asked) {
    layout.set(asked,
               std::max(handle_->hint("nc_header_align_size"), handle_->hint("nc_var_align_size")),
               handle_->hint("nc_record_align_size"));
}

void File::enddef(const detail::HeaderPadding& asked) {
    if (!handle_->defines) throw Error{NC_ENOTINDEFINE, path() + " is not in define mode"};
    set_layout(asked);
    end_definitions(puts);
    handle_->defines = handle_->independent = false;
}

// After this call, independent gets see all data that any rank has put before, and each rank can
// write large sections at once.
void File::begin_independent() {
    handle_->need_data();
    if (handle_->independent) return;
    handle_->independent = true;
    if (!definitions.is_writable()) return;
    puts.join(Reason::leave);
    if (definitions.is_new()) state.begin_writing();  // then a rank can write by itself
    state.sync();
    fill_rest(puts);
    if (state.kind() == State::Kind::writing) layout.extend();
}

void File::end_independent() {
    handle_->need_data();
    if (!handle_->independent) return;
    handle_->independent = false;
    if (definitions.is_writable()) puts.join(Reason::leave);
}

int File::end(bool abort, bool last) {
    const bool left = !handle_->requests.empty();
    if (left && !abort)
        std::fprintf(stderr, "thalweg: %s: rank %d closes it with %d requests, which are dropped\n",
                     path().c_str(), state.session.rank(),
                     static_cast<int>(handle_->requests.size()));
    handle_->requests.clear();
    if (!last) {
        if (handle_->defines && abort) definitions.undo();
        if (handle_->defines && !abort) enddef();
    } else if (abort) {
        nc::abort(puts);
    } else {
        const Error places = error_of([&] {
            if (handle_->defines) set_layout(usual_spacing());
        });
        const Error closing = error_of([&] { close(puts); });
        if (is_replaced_) on_rank(state.session.comm(), 0, [&] { unlink(path().c_str()); });
        if (places.code != 0) throw places;
        if (closing.code != 0) throw closing;
    }
    return left && !abort ? NC_EPENDING : NC_NOERR;
}

void File::give_up_name() {
    definitions.set_define_mode(false);
    if (definitions.is_writable()) {
        puts.join(Reason::leave);
        state.begin_reading();
    }
    state.own_reader.close();
    state.complete();
    const std::string name = path() + "." + std::to_string(puts.number()) + ".replaced";
    on_rank(state.session.comm(), 0, [&] {
        // Other ids may have opened the file by its name, too.
        if (link(path().c_str(), name.c_str()) != 0)
            throw Error{errno, path() + ": " + std::strerror(errno)};
    });
    definitions.path = name;
    is_replaced_ = true;
    state.open_for_reading();
    state.dirty = false;
}

// ---- calls --------------------------------------------------------------------------------------

int begin(Call& call, std::shared_ptr<File>* file) {
    static std::atomic<long> opened{0};
    return attempt([&] {
        try {
            *file = call.create ? File::create(call) : File::open(call);
        } catch (const Error& error) {
            if (error.code == netcdf::step_aside) call.reason = error.text;
            throw;
        }
        (*file)->opened = opened++;
    });
}

int run(File& file, const DataCall& call) {
    if (call.request != nullptr) *call.request = -1;
    return file.transfers.data(call);
}

int run(File& file, const DataCall& each, const std::vector<DataCall>& calls) {
    return file.transfers.data(each, calls);
}

int use_again(const Call& call, const std::shared_ptr<File>& file) {
    if (call.create && (call.mode & NC_NOCLOBBER) != 0) return NC_EEXIST;
    return on(*file, [&] {
        if (call.create) file->give_up_name();
        const bool has_header = !file->definitions.is_new() || file->definitions.have_ended();
        return has_header ? NC_NOERR : NC_EFILE;
    });
}

int end(std::shared_ptr<File>& file, Handle& handle, bool abort) {
    const int code = on(*file, [&] {
        file->use(handle);
        return file->end(abort, file.use_count() == 1);
    });
    // Never destroy a file if other ranks are in calls for other files, because its destructor is
    // collective.
    if (file->puts.is_mixed()) new std::shared_ptr<File>(file);
    file.reset();
    return code;
}

}  // namespace thalweg::pnetcdf::engine
