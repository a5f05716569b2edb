// SPDX-License-Identifier: Apache-2.0
#include "queued.hpp"

#include <thalweg/alone.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "ranks.hpp"
#include "types.hpp"

namespace thalweg::nc {

namespace {

constexpr std::size_t most_entries = 1 << 16;  // most entries queued in a session of one rank
constexpr int different_calls = -250;

// Copies the elements of a box that are part of a section to the section's values. Both have the
// same dimensions.
void lay_over(const Shape& start, const Shape& count, const Shape& stride, const char* box,
              std::size_t bytes, const Section& section, void* values) {
    const std::size_t dims = start.size();
    Shape at(dims, 0);
    const Index n = volume(section.count);
    for (Index i = 0; i < n; i++) {
        Index from = 0;
        bool in = true;
        for (std::size_t d = 0; d < dims && in; d++) {
            const Index step = stride.empty() ? 1 : stride[d];
            const Index wanted =
                section.start[d] + at[d] * (section.stride.empty() ? 1 : section.stride[d]);
            const Index k = wanted - start[d];
            in = k >= 0 && k % step == 0 && k / step < count[d];
            from = from * count[d] + k / step;
        }
        if (in)
            std::memcpy(static_cast<char*>(values) + static_cast<std::size_t>(i) * bytes,
                        box + static_cast<std::size_t>(from) * bytes, bytes);
        for (std::size_t d = dims; d-- > 0;) {
            if (++at[d] < section.count[d]) break;
            at[d] = 0;
        }
    }
}

}  // namespace

QueuedFile::QueuedFile(Session& session, std::string path)
    : Dataset(session, {}, std::move(path)),
      number_(session.files_made++),
      reductions_(session.comm(), session.lanes()),
      queue_(path_),
      last_write_(detail::now()) {
    shares_attributes_ = false;
    continues_in_place_ = true;
    // Without other ranks, a program may have readers that look for the file while it is written.
    if (session_.comm() == MPI_COMM_NULL) settings_ += "; publish=live";
}

Index QueuedFile::own_records() const {
    const int unlimited = table_.unlimited();
    return unlimited < 0 ? 0 : table_.length(unlimited);
}

Index QueuedFile::records() {
    const int unlimited = table_.unlimited();
    if (unlimited < 0) return 0;
    Index& length = table_.dimension(unlimited).length;
    if (writable_) length = std::max(length, reductions_.wait());
    return length;
}

// ---- joint calls --------------------------------------------------------------------------------

int QueuedFile::join(Reason reason, int varid, bool much) {
    constexpr Index none = std::numeric_limits<Index>::max();
    const bool full = reason == Reason::full;
    some_reads_ = false;
    for (;;) {
        hash_definitions();
        const Index dims = hash_of_dimensions_, vars = hash_of_variables_;
        const auto why = static_cast<Index>(reason);
        std::array<Index, 16> least{full ? none : why,
                                    full ? none : -why,
                                    !full  ? 2
                                    : much ? 0
                                           : 1,
                                    queue_.has_values() ? -1 : 0,
                                    dims,
                                    -dims,
                                    vars,
                                    -vars,
                                    -reductions_.posted(),
                                    -own_records(),
                                    varid < 0 ? none : varid,
                                    has_failed_ ? -1 : 0,
                                    number_,
                                    -number_,
                                    reads_alone_ || queue_.has_independent() ? -1 : 0,
                                    reason != Reason::wait || much ? -1 : 0};
        reduce(session_.comm(), MPI_MIN, least.data(), least.size());
        mixed_ = least[12] != -least[13];
        if (mixed_)
            throw Error{different_calls, path_ + ": the ranks are in calls for different files"};
        reductions_.catch_up(-least[8]);
        const int unlimited = table_.unlimited();
        if (unlimited >= 0) {
            Index& length = table_.dimension(unlimited).length;
            length = std::max({length, -least[9], reductions_.wait()});
        }
        apart_ = least[0] != none && least[0] != -least[1];
        if (apart_)
            throw Error{different_calls, path_ + ": the ranks are in different collective calls"};
        if (least[2] == 1) {
            if (full) return -1;
            continue;
        }
        some_reads_ = least[10] != none;
        const bool failed = least[11] != 0;
        if (!failed) settle_definitions(&least[4], least[3] < 0);
        if (least[2] == 2 && least[15] == 0 && !failed) {
            keep_requests();
            return -1;
        }
        handed_over_ = reductions_.posted();
        if (least[3] < 0 && !failed) {
            write_queue();
            if (least[2] == 0) commit(least[14] != 0);
        } else {
            queue_.clear();
        }
        if (full || least[2] == 2) return least[10] == none ? -1 : static_cast<int>(least[10]);
    }
}

// Writes the queue. An error is thrown here, and again in close.
void QueuedFile::write_queue() {
    last_write_ = detail::now();
    try {
        close_alone();
        begin_writing();
        const bool by_root = state_ == State::serial;
        Batch batch;
        if (by_root)
            batch = make_batch(session_, table_, queue_, true);
        else
            batch = next_batch();
        dirty_ = true;
        if (by_root) {
            write_by_root(batch);
        } else {
            std::vector<const char*> shared;
            Error error = error_of([&] { shared = shared_arrays(); });
            int step = 0;
            for (const PutCall& call : batch.calls) {
                for (; step < call.step; step++) end_step();
                if (error.code == 0) error = put_call(call, shared);
            }
            for (; step < batch.steps; step++) end_step();
            agree(session_.comm(), error);
        }
    } catch (const Error& error) {
        fail(error);
    } catch (const std::bad_alloc&) {
        fail({out_of_memory, path_ + ": out of memory for what waits to be written"});
    }
    queue_.clear();
}

// Makes what this call has written readable by each rank alone, if there are several ranks. With
// the service background this takes as long as the write.
// @param independent  some rank has put or read without the others, so it may read what was written
void QueuedFile::commit(bool independent) {
    if (session_.ranks() == 1 || !(independent || session_.keeps_arrays())) return;
    if (state_ == State::serial && independent) {
        const Error error = error_of([&] { serial_->sync(); });
        if (error.code != 0) fail(error);
        dirty_ = false;
    }
    if (state_ != State::writing) return;
    const int status = tw_sync(file_, 0);
    if (status != TW_OK) fail(session_.error_of_call(status));
    dirty_ = false;
}

// Keeps an error. After that, the file ignores all puts.
void QueuedFile::fail(const Error& error) {
    failed_ = error;
    has_failed_ = true;
    queue_.clear();
    throw error;
}

// Returns the calls for the queued puts. If all ranks have queued the same puts as before, these
// are the calls of an earlier batch.
Batch QueuedFile::next_batch() {
    Plans::Own own;
    Batch batch;
    const Error error = error_of([&] {
        own = plans_.find(session_, table_, queue_.entries());
        if (own.plan >= 0) plans_.repeat(own.plan, own.first, batch);
    });
    const bool records = own.first != Plans::no_record;
    Index least[] = {own.plan, -own.plan, own.first, records ? -own.first : own.first,
                     error.code != 0 ? -1 : 0};
    reduce(session_.comm(), MPI_MIN, least, 5);
    if (least[4] != 0) agree(session_.comm(), error);
    const bool same_first = least[2] == Plans::no_record || least[2] == -least[3];
    if (least[0] >= 0 && least[0] == -least[1] && same_first) {
        plans_.repeat(least[0], least[2], batch);
        return batch;
    }
    batch = make_batch(session_, table_, queue_, false);
    if (same_first) on_all(session_.comm(), [&] { plans_.keep(session_, own, least[2], batch); });
    return batch;
}

std::vector<const char*> QueuedFile::shared_arrays() const {
    std::vector<std::pair<const char*, const char*>> all;  // begin and end
    for (const Entry& e : queue_.entries()) {
        const nc_type type = table_.variables[static_cast<std::size_t>(e.varid)].type;
        if (!e.empty)
            all.emplace_back(e.values,
                             e.values + static_cast<std::size_t>(e.elements()) * size_of(type));
    }
    std::sort(all.begin(), all.end());
    std::vector<const char*> shared;
    std::size_t longest = 0;  // index of the array that ends last, among those so far
    for (std::size_t i = 1; i < all.size(); i++) {
        if (all[i].first < all[longest].second)
            shared.insert(shared.end(), {all[longest].first, all[i].first});
        if (all[i].second > all[longest].second) longest = i;
    }
    std::sort(shared.begin(), shared.end());
    return shared;
}

// Puts a box. A large one is written at once, if possible, without a copy in the library.
int QueuedFile::put_box(const Variable& v, const Shape& start, const Shape& count,
                        const Shape& stride, const char* values) {
    constexpr Index large = 64 << 10;  // bytes
    const auto type = static_cast<tw_type>(v.type);
    const char* const name = v.name.c_str();
    const bool tries = stride.empty() && !table_.is_record(v) && !is_netcdf4() &&
                       volume(count) * static_cast<Index>(size_of(v.type)) >= large;
    const int status = tries
                           ? tw_put_box_alone(file_, name, type, start.data(), count.data(), values)
                           : TW_EUNSUPPORTED;
    if (status != TW_EUNSUPPORTED) return status;
    return tw_put_box(file_, name, type, start.data(), count.data(),
                      stride.empty() ? nullptr : stride.data(), values);
}

bool QueuedFile::put_at_once(const Entry& entry) {
    const auto same = [&](const Entry& e) { return e.varid == entry.varid && !e.empty; };
    const auto& queued = queue_.entries();
    if (state_ != State::writing || has_failed_ || std::any_of(queued.begin(), queued.end(), same))
        return false;
    const Variable& v = table_.variable(entry.varid);
    const int status = tw_put_box_alone(file_, v.name.c_str(), static_cast<tw_type>(v.type),
                                        entry.start.data(), entry.count.data(), entry.values);
    if (status == TW_EUNSUPPORTED) return false;
    Dataset::check(status);
    return true;
}

Error QueuedFile::put_call(const PutCall& call, const std::vector<const char*>& shared) try {
    const Variable& v = table_.variable(call.varid);
    const Entry* const e =
        call.entry < 0 ? nullptr : &queue_.entries()[static_cast<std::size_t>(call.entry)];
    const auto type = static_cast<tw_type>(v.type);
    int status = TW_OK;
    if (call.form == Form::box) {
        e->for_boxes([&](const Shape& start, const Shape& count, Index first) {
            if (status == TW_OK)
                status = put_box(v, start, count, e->stride,
                                 e->values + static_cast<std::size_t>(first) * size_of(v.type));
        });
    } else {
        const Index n = e == nullptr ? 0 : e->elements() / call.records;
        const bool copies =
            e != nullptr && std::binary_search(shared.begin(), shared.end(), e->values);
        for (Index r = 0; r < call.records && status == TW_OK; r++) {
            const char* const values =
                e == nullptr ? nullptr
                             : e->values + static_cast<std::size_t>(r * n) * size_of(v.type);
            status = tw_put_record_array(file_, v.name.c_str(), call.decomposition, call.record + r,
                                         tw_dense(type, values, n),
                                         session_.keeps_arrays() && !copies ? TW_DEFERRED : 0);
        }
    }
    return session_.error_of_call(status);
} catch (const std::bad_alloc&) {
    return {out_of_memory, "out of memory"};
}

// Sends each rank's sections to the root, one step after another.
void QueuedFile::write_by_root(const Batch& batch) {
    const MPI_Comm comm = session_.comm();
    const auto send = [&](const Entry& e, Index bytes) {
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            MPI_Send(e.values + done, static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)),
                     MPI_BYTE, root_, 0, comm);
    };
    std::vector<std::vector<const Entry*>> mine_of_step(static_cast<std::size_t>(batch.steps));
    Section s;
    std::string received;
    Index most = 0;
    on_all(comm, [&] {
        mine_of_step.resize(static_cast<std::size_t>(batch.steps));
        for (const PutCall& call : batch.calls) {
            if (call.entry < 0) continue;
            const Entry& e = queue_.entries()[static_cast<std::size_t>(call.entry)];
            mine_of_step[static_cast<std::size_t>(call.step)].push_back(&e);
            const Variable& v = table_.variable(e.varid);
            most = std::max(most, volume(e.count) * static_cast<Index>(size_of(v.type)));
        }
        for (Shape* const shape : {&s.start, &s.count, &s.stride}) shape->reserve(NC_MAX_VAR_DIMS);
    });
    reduce(comm, MPI_MAX, &most, 1);
    on_rank(comm, root_, [&] { received.resize(static_cast<std::size_t>(most)); });
    const auto receive = [&](int rank, Index bytes) {
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            MPI_Recv(received.data() + done,
                     static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)), MPI_BYTE, rank,
                     0, comm, MPI_STATUS_IGNORE);
    };
    for (int step = 0; step < batch.steps; step++)
        for (int rank = 0; rank < session_.ranks(); rank++) {
            const bool mine = rank == session_.rank();
            const std::vector<const Entry*>& entries = mine_of_step[static_cast<std::size_t>(step)];
            int n = static_cast<int>(entries.size());
            share(comm, rank, &n, 1);
            for (int i = 0; i < n; i++) {
                const Entry* const e = mine ? entries[static_cast<std::size_t>(i)] : nullptr;
                int varid = mine ? e->varid : 0;
                share(comm, rank, &varid, 1);
                const Variable& v = table_.variable(varid);
                const std::size_t dims = v.dims.size();
                s.start.resize(dims);
                s.count.resize(dims);
                s.stride.assign(dims, 1);
                if (mine) {
                    s.start = e->start;
                    s.count = e->count;
                    if (!e->stride.empty()) s.stride = e->stride;
                }
                for (Shape* const shape : {&s.start, &s.count, &s.stride})
                    share(comm, rank, shape->data(), dims);
                const Index bytes = volume(s.count) * static_cast<Index>(size_of(v.type));
                const bool root = session_.rank() == root_;
                if (mine && !root) send(*e, bytes);
                if (!mine && root) receive(rank, bytes);
                serial_->put(varid, s.start, s.count, s.stride, v.type,
                             mine ? e->values : received.data(), Table::fill_of(v));
            }
        }
}

// ---- puts ---------------------------------------------------------------------------------------

void QueuedFile::leave_define_mode() {
    if (!define_) return;
    define_ = false;
    remember_definitions();
}

bool QueuedFile::writes_at_once(const Variable& v) const {
    Index bytes = static_cast<Index>(size_of(v.type));
    for (std::size_t d = table_.is_record(v) ? 1 : 0; d < v.dims.size(); d++)
        bytes *= table_.length(v.dims[d]);
    return bytes / session_.ranks() > staging_limit() / 4;
}

void QueuedFile::put(int varid, bool collective, Section section, const void* values) {
    put({varid, collective, std::move(section.start), std::move(section.count),
         std::move(section.stride), static_cast<const char*>(values)});
}

void QueuedFile::put(Entry entry) {
    Variable& v = table_.variable(entry.varid);
    entry.empty = volume(entry.count) == 0;
    const bool collective = entry.collective, at_once = writes_at_once(v);
    if (!entry.empty)
        table_.grow(v, entry.start.data(), entry.count.data(),
                    entry.stride.empty() ? nullptr : entry.stride.data());
    if (has_failed_) return;  // the same on all ranks
    if (entry.empty && !collective) return;
    const auto one = [](Index step) { return step == 1; };
    if (entry.empty || std::all_of(entry.stride.begin(), entry.stride.end(), one))
        entry.stride.clear();
    const std::size_t size = size_of(v.type);
    const std::size_t element = session_.ranks() == 1 || !collective ? size : 0;
    const Index bytes = entry.elements() * static_cast<Index>(size);
    const Error error = error_of([&] { queue_.push(std::move(entry), element); });
    after_put(collective, at_once, bytes);
    if (error.code != 0) throw error;
    if (collective && at_once && !queue_.entries().empty()) queue_.own_last(bytes, size);
}

void QueuedFile::put_nothing(int varid) {
    const Variable& v = table_.variable(varid);
    if (has_failed_) return;  // the same on all ranks
    (void)error_of([&] {
        queue_.push({varid, true, Shape(v.dims.size()), Shape(v.dims.size()), {}, nullptr, true});
    });
    after_put(true, writes_at_once(v));
}

// Writes the queue before a put begins a new record. So writes consist of whole records, and find
// the values in the cache.
void QueuedFile::make_room(const Variable& v, const Section& section) {
    if (session_.ranks() > 1 || queue_.bytes() < staging_limit() / 8) return;
    if (table_.is_record(v) && section.start.front() >= own_records()) join(Reason::full);
}

// Ends a put. Its decisions depend only on completed reductions, so they are the same on all ranks.
// @param bytes  size of this rank's put
void QueuedFile::after_put(bool collective, bool at_once, Index bytes) {
    if (!collective) return;
    const auto before = reductions_.post({own_records(), queue_.bytes()});
    const bool since = reductions_.posted() - handed_over_ > 8;
    const Index queued = session_.ranks() == 1 ? queue_.bytes()
                         : since && before     ? before->bytes
                                               : 0;
    const bool many = session_.ranks() == 1 && queue_.entries().size() >= most_entries;
    if (many || queued > staging_limit() / 2)
        join(Reason::full);
    else if (at_once)
        join(Reason::full, -1, bytes > staging_limit() / 4);
}

// ---- sync, close, definitions -------------------------------------------------------------------

void QueuedFile::sync() {
    if (!writable_) {
        close_alone();
        return Dataset::sync();
    }
    if (define_ && format_ != Format::netcdf4)
        throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    join(Reason::sync);
    Dataset::sync();
}

void QueuedFile::enddef() {
    if (!define_) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    check_sizes();
    define_ = false;
    settle_attributes();
    if (!edits_.empty()) {
        join(Reason::edit);
        make_edits();
    }
    remember_definitions();
}

void QueuedFile::close() {
    Error error;
    const auto attempt = [&](auto action) {
        try {
            action();
        } catch (const Error& thrown) {
            if (error.code == 0) error = thrown;
        }
    };
    close_alone();
    if (define_) {
        attempt([&] { check_sizes(); });
        define_ = false;
    }
    // Wait for ranks that are in another call and will close the file later.
    if (writable_) do
            attempt([&] { join(Reason::close); });
        while (apart_ && !mixed_);
    if (mixed_) throw error;
    if (has_failed_ && error.code == 0) error = failed_;
    attempt([&] { Dataset::close(); });
    if (error.code != 0) throw error;
}

void QueuedFile::abort() {
    close_alone();
    if (writable_ && state_ == State::defining && !ended_once_) return discard();
    if (define_) undo_definitions();
    close();
}

void QueuedFile::undo_definitions() {
    const auto remove_late = [](auto& list, std::size_t kept) {
        std::size_t i = 0;
        list.remove_if([&](const auto&) { return i++ >= kept; });
    };
    remove_late(table_.variables, kept_variables_);
    remove_late(table_.dimensions, kept_dimensions_);
    edits_.clear();
    fresh_.clear();
    define_ = false;
}

// Completes the new file and removes it, because the library can end a new file only by completing
// it.
void QueuedFile::discard() {
    table_ = {};
    fresh_.clear();
    Dataset::close();
    session_.check(tw_wait(session_.handle(), 0));
    on_rank(session_.comm(), root_, [&] { unlink(path_.c_str()); });
}

void QueuedFile::redef() {
    if (!define_) remember_definitions();
    Dataset::redef();
}

// Renames an object. In data mode, a classic file accepts only names that are not longer than the
// old ones.
template <class Rename>
void QueuedFile::rename(const std::string& old, std::string name, bool taken, Rename action) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    check_name(name);
    if (taken) throw Error{NC_ENAMEINUSE, path_ + ": the name " + name + " is in use"};
    const bool defining = define_;
    if (!defining && format_ != Format::netcdf4) {
        if (name.size() > old.size())
            throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
        define_ = true;
    }
    action(name);
    define_ = defining || format_ == Format::netcdf4;
}

void QueuedFile::rename_dim(int dimid, const std::string& name) {
    rename(table_.dimension(dimid).name, name, table_.find_dimension(name) >= 0,
           [&](const std::string& n) { Dataset::rename_dim(dimid, n); });
}

void QueuedFile::rename_var(int varid, const std::string& name) {
    rename(table_.variable(varid).name, name, table_.find_variable(name) >= 0,
           [&](const std::string& n) { Dataset::rename_var(varid, n); });
}

void QueuedFile::rename_att(int varid, const std::string& name, const std::string& new_name) {
    const std::string old = table_.attribute(varid, name).name;
    rename(old, new_name, table_.attributes_of(varid).find(new_name) >= 0,
           [&](const std::string& n) { Dataset::rename_att(varid, old, n); });
}

void QueuedFile::remember_definitions() {
    ended_once_ = true;
    kept_dimensions_ = table_.dimensions.size();
    kept_variables_ = table_.variables.size();
}

// ---- reading ------------------------------------------------------------------------------------

int QueuedFile::begin_get(int varid) {
    const int read = join(Reason::read, varid);
    begin_reading();
    return read;
}

void QueuedFile::get(int varid, const Section& section, void* values) {
    const Variable& v = table_.variable(varid);
    Dataset::check(tw_get_box(file_, v.name.c_str(), static_cast<tw_type>(v.type),
                              section.start.data(), section.count.data(), section.steps(), values));
}

void QueuedFile::get_nothing(int varid) {
    const Shape zero(table_.variable(varid).dims.size());
    char scalar[8];
    get(varid, {zero, zero, {}}, scalar);
}

void QueuedFile::close_alone() {
    if (alone_ == nullptr) return;
    const std::lock_guard lock(session_of(MPI_COMM_SELF).mutex);
    tw_close(&alone_);
}

void QueuedFile::open_alone() {
    if (alone_ != nullptr) return;
    const bool written = state_ == State::serial || state_ == State::writing;
    if (written && dirty_)
        throw Error{NC_EHDFERR, path_ +
                                    ": a rank by itself can read only what was there before the "
                                    "last sync of a file that is being written; use "
                                    "nc_var_par_access with NC_COLLECTIVE"};
    std::string path = state_ == State::serial ? serial_->work_path() : path_;
    if (state_ == State::writing && access((path_ + ".part").c_str(), R_OK) == 0) path += ".part";
    Session& own = session_of(MPI_COMM_SELF);
    own.check(tw_open(own.handle(), path.c_str(), "", &alone_));
}

void QueuedFile::get_alone(int varid, const Section& section, void* values) {
    const Variable& v = table_.variable(varid);
    const Index n = volume(section.count);
    reads_alone_ = true;
    if (n == 0) return;
    const bool written = state_ != State::defining;
    Session& own = session_of(MPI_COMM_SELF);
    const std::lock_guard lock(own.mutex);
    Section there = section;
    if (written) open_alone();
    if (written && table_.is_record(v)) {  // some records may exist only in this rank's queue
        Index records = 0;
        const std::string& name = table_.dimension(v.dims.front()).name;
        own.check(tw_inq_dim(alone_, name.c_str(), &records));
        const Index step = section.stride.empty() ? 1 : section.stride.front();
        const Index after = records - section.start.front();
        there.count.front() =
            std::clamp<Index>((after + step - 1) / step, 0, section.count.front());
    }
    const std::string fill = Table::fill_of(v);
    const bool all = written && volume(there.count) == n;
    for (Index i = 0; i < n && !all; i++)
        std::memcpy(static_cast<char*>(values) + i * static_cast<Index>(fill.size()), fill.data(),
                    fill.size());
    if (written && volume(there.count) > 0)
        own.check(tw_get_box(alone_, v.name.c_str(), static_cast<tw_type>(v.type),
                             there.start.data(), there.count.data(), there.steps(), values));
    const std::size_t bytes = size_of(v.type);
    for (const Entry& e : queue_.entries())
        if (e.varid == varid && !e.empty)
            e.for_boxes([&](const Shape& start, const Shape& count, Index first) {
                lay_over(start, count, e.stride, e.values + static_cast<std::size_t>(first) * bytes,
                         bytes, section, values);
            });
}

}  // namespace thalweg::nc
