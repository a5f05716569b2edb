// SPDX-License-Identifier: Apache-2.0
#include "queued.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/hash.hpp"
#include "types.hpp"

namespace thalweg::nc {

namespace {

constexpr int different_dimensions = -253, different_variables = -259, different_calls = -250;

template <class T>
void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Index hash_of_dimensions(const Table& table) {
    std::string text;
    for (const Dimension& d : table.dimensions) {
        text += d.name + '\n';
        append(text, d.unlimited ? Index{-1} : d.length);
    }
    return static_cast<Index>(detail::hash_of(text) >> 1U);
}

Index hash_of_variables(const Table& table) {
    std::string text;
    for (const Variable& v : table.variables) {
        text += v.name + '\n';
        append(text, v.type);
        for (const int d : v.dims) append(text, d);
    }
    return static_cast<Index>(detail::hash_of(text) >> 1U);
}

// Copies the elements of an entry that are in a section, which has the same dimensions.
void lay_over(const Entry& e, std::size_t bytes, const Section& section, void* values) {
    const std::size_t dims = e.start.size();
    Shape at(dims, 0);
    const Index n = volume(section.count);
    for (Index i = 0; i < n; i++) {
        Index from = 0;
        bool in = true;
        for (std::size_t d = 0; d < dims && in; d++) {
            const Index step = e.stride.empty() ? 1 : e.stride[d];
            const Index wanted =
                section.start[d] + at[d] * (section.stride.empty() ? 1 : section.stride[d]);
            const Index k = wanted - e.start[d];
            in = k >= 0 && k % step == 0 && k / step < e.count[d];
            from = from * e.count[d] + k / step;
        }
        if (in)
            std::memcpy(static_cast<char*>(values) + static_cast<std::size_t>(i) * bytes,
                        e.values + static_cast<std::size_t>(from) * bytes, bytes);
        for (std::size_t d = dims; d-- > 0;) {
            if (++at[d] < section.count[d]) break;
            at[d] = 0;
        }
    }
}

}  // namespace

QueuedFile::QueuedFile(Session& session, std::string path)
    : Dataset(session, {}, std::move(path)), reductions_(session.comm()), queue_(path_) {
    shares_attributes_ = false;
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

// Reads are joint calls, too: what is in the file is hashed once.
void QueuedFile::hash_definitions() {
    const std::size_t n = table_.dimensions.size() + table_.variables.size();
    if (state_ != State::defining && edits_.empty() && hashed_ == n) return;
    hash_of_dimensions_ = hash_of_dimensions(table_);
    hash_of_variables_ = hash_of_variables(table_);
    hashed_ = state_ == State::defining || !edits_.empty() ? 0 : n;
}

void QueuedFile::check_definitions(const Index* hashes) const {
    const auto differ = [&](int i) { return hashes[2 * i] != -hashes[2 * i + 1]; };
    if (differ(0))
        throw Error{different_dimensions, path_ + ": the ranks have defined different dimensions"};
    if (differ(1))
        throw Error{different_variables, path_ + ": the ranks have defined different variables"};
}

int QueuedFile::join(Reason reason, int varid) {
    constexpr Index none = std::numeric_limits<Index>::max();
    const bool full = reason == Reason::full;
    for (;;) {
        hash_definitions();
        const Index dims = hash_of_dimensions_, vars = hash_of_variables_;
        const auto why = static_cast<Index>(reason);
        std::array<Index, 13> least{full ? none : why,
                                    full ? none : -why,
                                    full ? 0 : 1,
                                    -static_cast<Index>(queue_.entries().size()),
                                    dims,
                                    -dims,
                                    vars,
                                    -vars,
                                    -reductions_.posted(),
                                    -own_records(),
                                    varid < 0 ? none : varid,
                                    edits_.empty() ? 0 : -1,
                                    has_failed_ ? -1 : 0};
        MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T,
                      MPI_MIN, session_.comm());
        reductions_.catch_up(-least[8]);
        handed_over_ = reductions_.posted();
        const int unlimited = table_.unlimited();
        if (unlimited >= 0) {
            Index& length = table_.dimension(unlimited).length;
            length = std::max({length, -least[9], reductions_.wait()});
        }
        if (least[0] != none && least[0] != -least[1])
            throw Error{different_calls, path_ + ": the ranks are in different collective calls"};
        const bool failed = least[12] != 0;
        if (failed)
            queue_.clear();
        else
            check_definitions(&least[4]);
        if (least[3] < 0 && !failed) write_queue();
        if (full || least[2] == 1) return least[10] == none ? -1 : static_cast<int>(least[10]);
    }
}

// An error is thrown here, and again by close.
void QueuedFile::write_queue() {
    try {
        begin_writing();
        close_alone();
        const bool by_root = state_ == State::serial;
        const Batch batch =
            by_root ? make_batch(session_, table_, queue_.entries(), true) : next_batch();
        dirty_ = true;
        if (by_root) {
            write_by_root(batch);
        } else {
            Error error;
            int step = 0;
            for (const PutCall& call : batch.calls) {
                for (; step < call.step; step++) end_step();
                if (error.code == 0) error = put_call(call);
            }
            for (; step < batch.steps; step++) end_step();
            agree(session_.comm(), error);
        }
    } catch (const Error& error) {
        failed_ = error;
        has_failed_ = true;
        queue_.clear();
        throw;
    }
    queue_.clear();
}

// Repeats an earlier batch, if all ranks have again what they had in it.
Batch QueuedFile::next_batch() {
    const Plans::Own own = plans_.find(session_, table_, queue_.entries());
    const bool records = own.first != Plans::no_record;
    Index least[] = {own.plan, -own.plan, own.first, records ? -own.first : own.first};
    MPI_Allreduce(MPI_IN_PLACE, least, 4, MPI_INT64_T, MPI_MIN, session_.comm());
    const bool same_first = least[2] == Plans::no_record || least[2] == -least[3];
    if (least[0] >= 0 && least[0] == -least[1] && same_first)
        return plans_.repeat(least[0], least[2]);
    Batch batch = make_batch(session_, table_, queue_.entries(), false);
    if (same_first) plans_.keep(session_, own, least[2], batch);
    return batch;
}

Error QueuedFile::put_call(const PutCall& call) {
    const Variable& v = table_.variable(call.varid);
    const Entry* const e =
        call.entry < 0 ? nullptr : &queue_.entries()[static_cast<std::size_t>(call.entry)];
    const auto type = static_cast<tw_type>(v.type);
    int status = TW_OK;
    if (call.form == Form::box) {
        status = tw_put_box(file_, v.name.c_str(), type, e->start.data(), e->count.data(),
                            e->stride.empty() ? nullptr : e->stride.data(), e->values);
    } else {
        const std::size_t inner = table_.is_record(v) ? 1 : 0;
        const Index n = e == nullptr ? 0 : volume(e->count, inner);
        for (Index r = 0; r < call.records && status == TW_OK; r++) {
            const char* const values =
                e == nullptr ? nullptr
                             : e->values + static_cast<std::size_t>(r * n) * size_of(v.type);
            status = tw_put_record_array(file_, v.name.c_str(), call.decomposition, call.record + r,
                                         tw_dense(type, values, n),
                                         session_.keeps_arrays() ? TW_DEFERRED : 0);
        }
    }
    if (status == TW_OK) return {};
    return {code_of(status), tw_error_message(session_.handle())};
}

// Sends each rank's sections to the root, step by step.
void QueuedFile::write_by_root(const Batch& batch) {
    const MPI_Comm comm = session_.comm();
    const auto send = [&](const Entry& e, Index bytes) {
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            MPI_Send(e.values + done, static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)),
                     MPI_BYTE, root_, 0, comm);
    };
    std::string received;
    const auto receive = [&](int rank, Index bytes) {
        received.resize(static_cast<std::size_t>(bytes));
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            MPI_Recv(received.data() + done,
                     static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)), MPI_BYTE, rank,
                     0, comm, MPI_STATUS_IGNORE);
    };
    for (int step = 0; step < batch.steps; step++)
        for (int rank = 0; rank < session_.ranks(); rank++) {
            const bool mine = rank == session_.rank();
            std::vector<const Entry*> entries;
            if (mine)
                for (const PutCall& call : batch.calls)
                    if (call.step == step && call.entry >= 0)
                        entries.push_back(&queue_.entries()[static_cast<std::size_t>(call.entry)]);
            int n = static_cast<int>(entries.size());
            MPI_Bcast(&n, 1, MPI_INT, rank, comm);
            for (int i = 0; i < n; i++) {
                const Entry* const e = mine ? entries[static_cast<std::size_t>(i)] : nullptr;
                int varid = mine ? e->varid : 0;
                MPI_Bcast(&varid, 1, MPI_INT, rank, comm);
                const Variable& v = table_.variable(varid);
                const std::size_t dims = v.dims.size();
                Section s{Shape(dims), Shape(dims), Shape(dims, 1)};
                if (mine) {
                    s.start = e->start;
                    s.count = e->count;
                    if (!e->stride.empty()) s.stride = e->stride;
                }
                for (Shape* const shape : {&s.start, &s.count, &s.stride})
                    MPI_Bcast(shape->data(), static_cast<int>(dims), MPI_INT64_T, rank, comm);
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
    Variable& v = table_.variable(varid);
    const bool empty = volume(section.count) == 0;
    const bool at_once = writes_at_once(v);
    if (!empty) table_.grow(v, section.start.data(), section.count.data(), section.steps());
    if (has_failed_) return;  // on all ranks
    if (empty && !collective) return;
    const auto one = [](Index step) { return step == 1; };
    if (empty || std::all_of(section.stride.begin(), section.stride.end(), one))
        section.stride.clear();
    queue_.push({varid, collective, std::move(section.start), std::move(section.count),
                 std::move(section.stride), static_cast<const char*>(values), empty});
    after_put(collective, at_once);
}

void QueuedFile::put_nothing(int varid) {
    const Variable& v = table_.variable(varid);
    queue_.push({varid, true, Shape(v.dims.size()), Shape(v.dims.size()), {}, nullptr, true});
    after_put(true, writes_at_once(v));
}

// All ranks come to the same result: it depends on reductions that have ended on all.
void QueuedFile::after_put(bool collective, bool at_once) {
    if (!collective) return;
    const auto before = reductions_.post({own_records(), queue_.bytes()});
    const bool since = reductions_.posted() - handed_over_ > 8;
    if (at_once || (since && before && before->bytes > staging_limit() / 2)) join(Reason::full);
}

// ---- the others ---------------------------------------------------------------------------------

void QueuedFile::sync() {
    if (!writable_) return Dataset::sync();
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
    if (writable_) attempt([&] { join(Reason::close); });
    if (has_failed_ && error.code == 0) error = failed_;
    attempt([&] { Dataset::close(); });
    if (error.code != 0) throw error;
}

void QueuedFile::abort() {
    close_alone();
    if (writable_ && state_ == State::defining && !ended_once_) return discard();
    if (define_) {
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
    close();
}

// The library has no other end of a new file than to complete it.
void QueuedFile::discard() {
    table_ = {};
    fresh_.clear();
    Dataset::close();
    on_rank(session_.comm(), root_, [&] { unlink(path_.c_str()); });
}

void QueuedFile::redef() {
    if (!define_) remember_definitions();
    Dataset::redef();
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
    if (alone_ != nullptr) tw_close(&alone_);
}

void QueuedFile::open_alone() {
    if (alone_ != nullptr) return;
    if (state_ == State::serial || (state_ == State::writing && dirty_))
        throw Error{NC_EHDFERR, path_ +
                                    ": a rank by itself can read only what was there before the "
                                    "last sync of a file that is being written; use "
                                    "nc_var_par_access with NC_COLLECTIVE"};
    std::string path = path_;
    if (state_ == State::writing && access((path_ + ".part").c_str(), R_OK) == 0) path += ".part";
    Session& own = session_of(MPI_COMM_SELF);
    own.check(tw_open(own.handle(), path.c_str(), "", &alone_));
}

void QueuedFile::get_alone(int varid, const Section& section, void* values) {
    const Variable& v = table_.variable(varid);
    const Index n = volume(section.count);
    if (n == 0) return;
    if (state_ == State::defining) {  // nothing has been written
        const std::string fill = Table::fill_of(v);
        for (Index i = 0; i < n; i++)
            std::memcpy(static_cast<char*>(values) + i * static_cast<Index>(fill.size()),
                        fill.data(), fill.size());
    } else {
        open_alone();
        const Session& own = session_of(MPI_COMM_SELF);
        own.check(tw_get_box(alone_, v.name.c_str(), static_cast<tw_type>(v.type),
                             section.start.data(), section.count.data(), section.steps(), values));
    }
    for (const Entry& e : queue_.entries())
        if (e.varid == varid && !e.empty) lay_over(e, size_of(v.type), section, values);
}

}  // namespace thalweg::nc
