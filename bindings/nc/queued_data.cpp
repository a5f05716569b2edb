// Puts, which wait in the queue, and gets.
//
// SPDX-License-Identifier: Apache-2.0
#include <thalweg/alone.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "queued.hpp"
#include "types.hpp"

namespace thalweg::nc {

namespace {

constexpr std::size_t most_entries = 1 << 16;  // most entries queued in a session of one rank

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
    if (has_failed_) throw failed_;  // the same on all ranks
    Variable& v = table_.variable(entry.varid);
    entry.empty = volume(entry.count) == 0;
    const bool collective = entry.collective, at_once = writes_at_once(v);
    if (!entry.empty)
        table_.grow(v, entry.start.data(), entry.count.data(),
                    entry.stride.empty() ? nullptr : entry.stride.data());
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

// A single rank writes its queue before it begins a new record, so that writes consist of whole
// records, and find the values in the cache. One of several ranks writes it if all others wait.
void QueuedFile::make_room(int varid, const Section& section) {
    if (has_failed_) throw failed_;  // the same on all ranks
    if (queue_.bytes() < staging_limit() / 8) return;
    const Variable& v = table_.variable(varid);
    const bool new_record = table_.is_record(v) && section.start.front() >= own_records();
    if (session_.ranks() > 1 ? others_wait() : new_record) join(Reason::full);
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

bool QueuedFile::is_large(const Variable& v, const Shape& count) const {
    constexpr Index large = 64 << 10;  // bytes
    return !table_.is_record(v) && volume(count) * static_cast<Index>(size_of(v.type)) >= large;
}

bool QueuedFile::put_at_once(const Entry& entry) {
    // An empty collective put stands for those of other ranks, which must not be written later.
    const auto same = [&](const Entry& e) { return e.varid == entry.varid; };
    const auto& queued = queue_.entries();
    const Variable& before = table_.variable(entry.varid);
    if (has_failed_ || !before.storage.no_fill || !is_large(before, entry.count) ||
        !entry.stride.empty() || entry.pieces != nullptr)
        return false;
    const auto must_wait = [&] {
        return state_ != State::writing || std::any_of(queued.begin(), queued.end(), same);
    };
    if (must_wait() && queue_.has_values() && others_wait()) join(Reason::full);
    if (must_wait()) return false;
    const Variable& v = table_.variable(entry.varid);  // join() may have replaced the definitions
    const int status = tw_put_box_alone(file_, v.name.c_str(), static_cast<tw_type>(v.type),
                                        entry.start.data(), entry.count.data(), entry.values);
    if (status == TW_EUNSUPPORTED) return false;
    const Error error = error_of([&] { Dataset::check(status); });
    if (status == TW_EIO) failed_ = error;  // the other ranks learn of it in the next joint call
    if (error.code != 0) throw error;
    return true;
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
