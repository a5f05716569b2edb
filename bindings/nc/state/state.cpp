// SPDX-License-Identifier: Apache-2.0
#include "nc/state/state.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "nc/base/ranks.hpp"
#include "nc/definitions/storage.hpp"
#include "nc/state/library_file.hpp"

namespace thalweg::nc {

namespace {

// Throws the system's error if a path cannot be read or written, as netCDF-C does.
void check_readable(const std::string& path, bool writable) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
        // A set of tiles has no file with its own name.
        if (errno == ENOENT && access((path + ".0000").c_str(), R_OK) == 0) return;
        throw Error{errno, path + ": " + std::strerror(errno)};
    }
    if (S_ISREG(info.st_mode) && info.st_size == 0)
        throw Error{NC_ENOTNC, path + ": the file is empty"};
    if (access(path.c_str(), writable ? R_OK | W_OK : R_OK) != 0)
        throw Error{errno, path + ": " + std::strerror(errno)};
}

// Errors and data of some ranks, of which the others may not know.
struct News {
    bool late;     // some rank has an error that not all ranks know
    bool dirty;    // some rank has data that are not synced
    bool pending;  // some rank has data that are not written yet
};

// Compares the puts of the ranks. A rank whose call was wrong may have put fewer sections than the
// others.
News compare(const State& s) {
    Index most[] = {s.late.put, -s.late.put, s.dirty ? 1 : 0, s.pending};
    reduce(s.session.comm(), MPI_MAX, most, 4);
    return {most[0] != -most[1], most[2] != 0, most[3] > 0};
}

// Throws late errors on all ranks.
void tell_late(State& s, const News& news) {
    const Error error = std::exchange(s.late.error, {});
    s.late.put = -1;
    if (news.late) agree(s.session.comm(), error);
}

}  // namespace

// ---- handles ------------------------------------------------------------------------------------

tw_file OwnReader::open(const std::string& path) {
    Session& own = session_of(MPI_COMM_SELF);
    if (file_ == nullptr) own.check(tw_open(own.handle(), path.c_str(), "", &file_));
    return file_;
}

void OwnReader::close() {
    if (file_ == nullptr) return;
    const std::lock_guard lock(session_of(MPI_COMM_SELF).mutex);
    tw_close(&file_);
}

State::State(Session& own_session, Definitions& definitions, int root_rank, std::string settings,
             Existing existing, Events* events)
    : session(own_session),
      root(root_rank),
      definitions_(definitions),
      settings_("attributes=first" + std::move(settings)),
      existing_(existing),
      events_(events) {}

State::~State() {
    if (file_ != nullptr) tw_close(&file_);
}

void State::create(bool clobber) {
    std::string& path = definitions_.path;
    if (!clobber)
        on_rank(session.comm(), root, [&] {
            if (access(path.c_str(), F_OK) == 0) throw Error{NC_EEXIST, path + ": the file exists"};
        });
    const std::string settings =
        settings_ + "; format=" + (definitions_.zarr ? "zarr" : name_of(definitions_.format));
    const auto make = [&] {
        return tw_create(session.handle(), path.c_str(), settings.c_str(), &file_);
    };
    int status = make();
    if (status == TW_EMISMATCH) {  // the ranks pass different names: use that of the root
        path = broadcast(session.comm(), root, path);
        status = make();
    }
    session.check(status);
    memory_ = std::make_unique<detail::PutMemory>(session.handle(), staging_limit());
    memory_->serve(file_);
}

void State::open(bool writable) {
    // A file of this name may still be incomplete although it was closed, so wait for it.
    session.check(tw_wait(session.handle(), 0));
    on_rank(session.comm(), root, [&] { check_readable(definitions_.path, writable); });
    definitions_.set_writable(writable);
    definitions_.fill_mode = NC_FILL;
    open_for_reading();
    adopt(definitions_, session, file_);
    if (writable) memory_ = std::make_unique<detail::PutMemory>(session.handle(), staging_limit());
}

void State::open_for_reading() {
    session.check(tw_open(session.handle(), path().c_str(), "", &file_));
    kind_ = Kind::reading;
}

void State::complete() {
    handed_over(tw_close(&file_));
    session.check(tw_wait(session.handle(), 0));
}

void State::end_step(bool goes_on) {
    // In the background, tw_sync would wait for the write.
    goes_on &= session.keeps_arrays();
    handed_over(goes_on ? tw_sync(file_, 0) : tw_end_step(file_));
    if (goes_on) dirty = false;
}

// Ends a step, or throws the error of the write.
void State::handed_over(int status) {
    pending = 0;
    if (events_ != nullptr) events_->step_ended();
    if (status == TW_OK || status == TW_ERANGE) return;  // the put has already reported TW_ERANGE
    failure = session.error_of_call(status);
    throw failure;
}

// ---- definitions --------------------------------------------------------------------------------

void State::enddef() {
    definitions_.end();
    settle_attributes();
    make_edits();
}

// Ends define mode, and brings the definitions into the file.
void State::bring_definitions() {
    if (definitions_.in_define_mode()) {
        if (definitions_.format != Format::netcdf4)
            throw Error{NC_EINDEFINE, definitions_.path + " is in define mode"};
        enddef();
    }
    settle_attributes();
    make_edits();
    if (kind_ == Kind::defining) hand_over();
}

void State::settle_attributes() {
    agree_attributes(definitions_, session.comm(), root);
    Changes& changes = definitions_.changes;
    // The library accepts attributes even while it writes the file.
    if (kind_ != Kind::writing || !changes.are_attributes()) return;
    dirty |= !changes.edits.empty();
    for (const Edit& e : std::exchange(changes.edits, {})) {
        const std::string var = e.id == NC_GLOBAL ? "" : definitions_.table.variable(e.id).name;
        session.check(tw_put_att(file_, var.c_str(), e.attribute.name.c_str(),
                                 static_cast<tw_type>(e.attribute.type), e.attribute.n,
                                 e.attribute.bytes.data()));
    }
}

void State::hand_over() {
    const std::string why = definitions_.is_netcdf4() ? beyond_library(definitions_.table) : "";
    if (why.empty()) {
        define(definitions_, session, root, file_, false);
        kind_ = Kind::writing;
        dirty = true;
        definitions_.written();
        definitions_.remember();
        if (events_ != nullptr) events_->laid_out();
        return;
    }
    if (definitions_.zarr)
        throw Error{NC_EINVAL, definitions_.path + ": format zarr lacks this: " + why};
    inform(session.comm(), definitions_.path + " is written by one rank: " + why);
    complete();
    fallback_ = std::make_unique<Fallback>(session.comm(), root);
    const int model = definitions_.format == Format::netcdf4_classic ? NC_CLASSIC_MODEL : 0;
    fallback_->create(definitions_.path, definitions_.table, NC_NETCDF4 | model);
    definitions_.written();
    kind_ = Kind::fallback;
    dirty = true;
}

// Closes the file, lets one rank change it, and opens it again.
void State::make_edits() {
    if (definitions_.changes.edits.empty()) return;
    own_reader.close();
    const std::vector<Edit> edits = std::exchange(definitions_.changes.edits, {});
    // undo() must not drop what another id in define mode has defined so far.
    definitions_.remember();
    // The library can change attributes in a classic file or a Zarr store while it appends.
    const bool appends =
        definitions_.zarr || (existing_ == Existing::by_library && !definitions_.is_netcdf4());
    if (appends && kind_ == Kind::reading &&
        std::all_of(edits.begin(), edits.end(), [](const Edit& e) {
            return e.kind == Edit::Kind::attribute && e.attribute.name != fill_attribute;
        }))
        return open_for_writing();
    if (file_ != nullptr) complete();
    try {
        if (definitions_.zarr)
            throw Error{NC_EPERM, definitions_.path +
                                      ": the definitions of a Zarr store cannot "
                                      "change after data"};
        if (fallback_) {
            fallback_->pause();
            fallback_->edit(edits, definitions_.table);
        } else {
            on_rank(session.comm(), root, [&] {
                edit_file(definitions_.path, edits, definitions_.table, definitions_.is_netcdf4());
            });
        }
    } catch (const Error&) {  // the file keeps its old definitions
        open_for_reading();
        adopt(definitions_, session, file_);
        throw;
    }
    dirty = false;
    pending = 0;
    open_for_reading();
    definitions_.written();
}

// ---- writing and reading ------------------------------------------------------------------------

// Opens a file that was open for reading for writing; after a failure it stays open for reading.
// One rank writes netCDF-4 files that the library cannot continue.
void State::open_for_writing() {
    if (fallback_) {
        session.check(tw_close(&file_));
        fallback_->resume();
        kind_ = Kind::fallback;
        return;
    }
    try {
        if (definitions_.is_netcdf4() && !definitions_.zarr && existing_ == Existing::by_one_rank)
            throw Error{NC_EPERM, "it is an existing netCDF-4 file"};
        continue_file();
    } catch (const Error& error) {
        if (!definitions_.is_netcdf4() || definitions_.zarr) throw;
        auto fallback = std::make_unique<Fallback>(session.comm(), root);
        fallback->open(definitions_.path, definitions_.table);
        inform(session.comm(), definitions_.path + " is written by one rank: " + error.text);
        session.check(tw_close(&file_));
        fallback_ = std::move(fallback);
        kind_ = Kind::fallback;
    }
}

// Opens the file so that the library appends to it; after a failure it stays open for reading.
void State::continue_file() {
    session.check(tw_close(&file_));
    const std::string settings =
        settings_ + "; mode=append" + (definitions_.zarr ? "; format=zarr" : "");
    try {
        session.check(
            tw_open(session.handle(), definitions_.path.c_str(), settings.c_str(), &file_));
        memory_->serve(file_);
        define(definitions_, session, root, file_, true);
    } catch (const Error&) {
        if (file_ != nullptr) tw_close(&file_);
        open_for_reading();
        throw;
    }
    definitions_.written();
    kind_ = Kind::writing;
    dirty = true;
}

void State::begin_writing() {
    definitions_.need_write();
    bring_definitions();
    if (kind_ == Kind::reading) open_for_writing();
}

void State::begin_reading() {
    bring_definitions();
    if (kind_ == Kind::writing) sync();
    if (kind_ == Kind::fallback) {
        fallback_->pause();
        open_for_reading();
    }
}

void State::sync() {
    if (definitions_.in_define_mode() && definitions_.format != Format::netcdf4)
        throw Error{NC_EINDEFINE, definitions_.path + " is in define mode"};
    if (!definitions_.is_writable()) {  // look for records that another program has added
        session.check(tw_sync(file_, 0));
        for (Dimension& d : definitions_.table.dimensions)
            if (d.unlimited) session.check(tw_inq_dim(file_, d.name.c_str(), &d.length));
        return;
    }
    bring_definitions();
    const News news = compare(*this);
    if (kind_ == Kind::fallback) {
        fallback_->sync();
        dirty = false;
    }
    if (kind_ == Kind::writing && news.dirty) {
        handed_over(tw_sync(file_, 0));
        dirty = false;
    }
    tell_late(*this, news);
}

void State::flush() {
    if (kind_ == Kind::writing && compare(*this).pending) end_step();
}

void State::close() {
    if (definitions_.is_writable()) {
        if (definitions_.in_define_mode()) check_sizes(definitions_);
        definitions_.set_define_mode(false);
        bring_definitions();
    }
    if (file_ != nullptr) handed_over(tw_close(&file_));
    if (fallback_) fallback_->close();
    fallback_.reset();
    tell_late(*this, compare(*this));
}

Storage inquire_storage(Definitions& definitions, State& state, int varid) {
    Variable& v = definitions.table.variable(varid);
    // The library chooses the storage when writing begins, so begin now.
    if (!definitions.in_define_mode() && definitions.is_new()) state.begin_writing();
    if (!definitions.in_file(varid)) return expected_storage(definitions.table, v);
    if (v.storage.of_file) return v.storage;
    if (state.kind() == State::Kind::writing || definitions.zarr) {
        state.sync();
        v.storage = storage_in_file(v, state.session, state.file(), state.path());
    } else {
        state.begin_reading();
        v.storage = storage_by_netcdf(v, state.session, state.root, state.path());
    }
    return v.storage;
}

}  // namespace thalweg::nc
