// The joint calls of the ranks, in which they write what they have queued.
//
// SPDX-License-Identifier: Apache-2.0
#include <thalweg/alone.h>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "pnetcdf_codes.hpp"
#include "queued.hpp"
#include "ranks.hpp"
#include "types.hpp"

namespace thalweg::nc {

using namespace pnetcdf_codes;

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
                                    failed_.code != 0 ? -1 : 0,
                                    number_,
                                    -number_,
                                    reads_alone_ || queue_.has_independent() ? -1 : 0,
                                    reason != Reason::wait || much ? -1 : 0};
        if (!full) reductions_.show_waiting(next_join());
        reduce(session_.comm(), MPI_MIN, least.data(), least.size());
        mixed_ = least[12] != -least[13];
        if (mixed_) {
            reductions_.show_waiting(0);
            MPI_Barrier(session_.comm());  // until no rank sees another one wait
            throw Error{different_calls, path_ + ": the ranks are in calls for different files"};
        }
        joins_++;
        reductions_.catch_up(-least[8]);
        const int unlimited = table_.unlimited();
        if (unlimited >= 0) {
            Index& length = table_.dimension(unlimited).length;
            length = std::max({length, -least[9], reductions_.wait()});
        }
        apart_ = least[0] != none && least[0] != -least[1];
        const bool failed = least[11] != 0;
        if (failed) fail(error_of([&] { agree(session_.comm(), failed_); }));
        if (apart_)
            throw Error{different_calls, path_ + ": the ranks are in different collective calls"};
        if (least[2] == 1) {
            if (full) return -1;
            continue;
        }
        if (least[14] != 0) session_.works_alone = true;
        some_reads_ = least[10] != none;
        settle_definitions(&least[4], least[3] < 0);
        if (least[2] == 2 && least[15] == 0) {
            keep_requests();
            return -1;
        }
        handed_over_ = reductions_.posted();
        if (least[3] < 0) {
            write_queue();
            if (least[2] == 0) commit(least[14] != 0);
        } else {
            queue_.clear();
        }
        if (full || least[2] == 2) return least[10] == none ? -1 : static_cast<int>(least[10]);
    }
}

// Writes the queue. An error is thrown here, and again by later calls.
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
// the service background this takes as long as the write. So it ends there after a few writes if no
// rank has worked alone, in any file.
// @param independent  some rank has put or read without the others, so it may read what was written
void QueuedFile::commit(bool independent) {
    constexpr Index most = 8;
    if (session_.ranks() == 1) return;
    if (!session_.works_alone && !session_.keeps_arrays() && session_.commits >= most) return;
    session_.commits++;
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

// Keeps an error, which all later puts and joint calls return, and throws it.
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
    const auto type = static_cast<tw_type>(v.type);
    const char* const name = v.name.c_str();
    const int status = stride.empty() && is_large(v, count)
                           ? tw_put_box_alone(file_, name, type, start.data(), count.data(), values)
                           : TW_EUNSUPPORTED;
    if (status != TW_EUNSUPPORTED) return status;
    return tw_put_box(file_, name, type, start.data(), count.data(),
                      stride.empty() ? nullptr : stride.data(), values);
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

}  // namespace thalweg::nc
