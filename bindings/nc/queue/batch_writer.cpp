// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/batch_writer.hpp"

#include <thalweg/alone.h>

#include <algorithm>
#include <climits>
#include <new>
#include <utility>

#include "nc/base/ranks.hpp"
#include "nc/base/types.hpp"

namespace thalweg::nc {

bool is_large(const Table& table, const Variable& v, const Shape& count) {
    constexpr Index large = 64 << 10;  // bytes
    return !table.is_record(v) && volume(count) * static_cast<Index>(size_of(v.type)) >= large;
}

void BatchWriter::write() {
    Session& session = state_.session;
    state_.own_reader.close();
    state_.begin_writing();
    if (state_.kind() == State::Kind::fallback) {
        const Batch batch = make_batch(session, table_, queue_, true);
        state_.dirty = true;
        return write_by_root(batch);
    }
    const Batch batch = next_batch();
    state_.dirty = true;
    std::vector<const char*> shared;
    Error error = error_of([&] { shared = shared_arrays(); });
    int step = 0;
    for (const PutCall& call : batch.calls) {
        for (; step < call.step; step++) state_.end_step();
        if (error.code == 0) error = put_call(call, shared);
    }
    for (; step < batch.steps; step++) state_.end_step();
    agree(session.comm(), error);
}

void BatchWriter::commit(bool independent) {
    constexpr Index most = 8;
    Session& session = state_.session;
    if (session.ranks() == 1) return;
    if (!session.works_alone && !session.keeps_arrays() && session.commits >= most) return;
    session.commits++;
    if (state_.kind() == State::Kind::fallback && independent) {
        state_.fallback().sync();
        state_.dirty = false;
    }
    if (state_.kind() != State::Kind::writing) return;
    session.check(tw_sync(state_.file(), 0));
    state_.dirty = false;
}

// Returns the calls for the queued puts. If all ranks have queued the same puts as before, these
// are the calls of an earlier batch.
Batch BatchWriter::next_batch() {
    Plans::Own own;
    Batch batch;
    const Error error = error_of([&] {
        own = plans_.find(state_.session, table_, queue_.entries());
        if (own.plan >= 0) plans_.repeat(own.plan, own.first, batch);
    });
    const bool records = own.first != Plans::no_record;
    Index least[] = {own.plan, -own.plan, own.first, records ? -own.first : own.first,
                     error.code != 0 ? -1 : 0};
    reduce(state_.session.comm(), MPI_MIN, least, 5);
    if (least[4] != 0) agree(state_.session.comm(), error);
    const bool same_first = least[2] == Plans::no_record || least[2] == -least[3];
    if (least[0] >= 0 && least[0] == -least[1] && same_first) {
        plans_.repeat(least[0], least[2], batch);
        return batch;
    }
    batch = make_batch(state_.session, table_, queue_, false);
    if (same_first)
        on_all(state_.session.comm(), [&] { plans_.keep(state_.session, own, least[2], batch); });
    return batch;
}

std::vector<const char*> BatchWriter::shared_arrays() const {
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
int BatchWriter::put_box(const Variable& v, const Shape& start, const Shape& count,
                         const Shape& stride, const char* values) {
    const auto type = static_cast<tw_type>(v.type);
    const char* const name = v.name.c_str();
    const int status =
        stride.empty() && is_large(table_, v, count)
            ? tw_put_box_alone(state_.file(), name, type, start.data(), count.data(), values)
            : TW_EUNSUPPORTED;
    if (status != TW_EUNSUPPORTED) return status;
    return tw_put_box(state_.file(), name, type, start.data(), count.data(),
                      stride.empty() ? nullptr : stride.data(), values);
}

Error BatchWriter::put_call(const PutCall& call, const std::vector<const char*>& shared) try {
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
            status =
                tw_put_record_array(state_.file(), v.name.c_str(), call.decomposition,
                                    call.record + r, tw_dense(type, values, n),
                                    state_.session.keeps_arrays() && !copies ? TW_DEFERRED : 0);
        }
    }
    return state_.session.error_of_call(status);
} catch (const std::bad_alloc&) {
    return {out_of_memory, "out of memory"};
}

// Sends each rank's sections to the root, one step after another.
void BatchWriter::write_by_root(const Batch& batch) {
    const MPI_Comm comm = state_.session.comm();
    const auto send = [&](const Entry& e, Index bytes) {
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            MPI_Send(e.values + done, static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)),
                     MPI_BYTE, state_.root, 0, comm);
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
    on_rank(comm, state_.root, [&] { received.resize(static_cast<std::size_t>(most)); });
    const auto receive = [&](int rank, Index bytes) {
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            MPI_Recv(received.data() + done,
                     static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)), MPI_BYTE, rank,
                     0, comm, MPI_STATUS_IGNORE);
    };
    for (int step = 0; step < batch.steps; step++)
        for (int rank = 0; rank < state_.session.ranks(); rank++) {
            const bool mine = rank == state_.session.rank();
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
                const bool root = state_.session.rank() == state_.root;
                if (mine && !root) send(*e, bytes);
                if (!mine && root) receive(rank, bytes);
                state_.fallback().put(varid, s.start, s.count, s.stride, v.type,
                                      mine ? e->values : received.data(), Table::fill_of(v));
            }
        }
}

}  // namespace thalweg::nc
