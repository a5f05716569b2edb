// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/batch_writer.hpp"

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

int put_box(const State& state, const Variable& v, const Section& section, const char* values,
            int flags) {
    return tw_put_box_as(state.file(), v.name.c_str(), static_cast<tw_type>(v.type),
                         section.start.data(), section.count.data(), section.steps(), values,
                         flags);
}

void BatchWriter::write(bool goes_on, bool passed, bool queued) try {
    const MPI_Comm comm = state_.session.comm();
    Error error;
    // In the background, only some ranks may know of a failure yet.
    const auto end_step = [&] {
        const Error failed = error_of([&] { state_.end_step(goes_on); });
        if (error.code == 0) error = failed;
    };
    state_.own_reader.close();
    if (passed) {  // before begin_writing(), which may close the library's file
        end_step();
        agree(comm, error);
        state_.dirty = true;
    }
    if (!queued) return;
    state_.begin_writing();
    state_.dirty = true;
    if (state_.kind() == State::Kind::fallback) return write_by_root(batches_.boxes());
    if (detail::packed_order(state_.file()) != definitions_.order()) queue_.unpack();
    const Batch batch = batches_.next();
    int step = 0;
    for (const PutCall& call : batch.calls) {
        for (; step < call.step; step++) end_step();
        if (error.code == 0) error = put_call(call);
    }
    for (; step < batch.steps; step++) end_step();
    agree(comm, error);
} catch (const std::bad_alloc&) {
    const Error error{out_of_memory, "out of memory for what waits to be written"};
    if (state_.session.ranks() > 1) end_job(state_.session.comm(), error);
    throw error;
}

void BatchWriter::commit(bool independent) {
    Session& session = state_.session;
    const Index most = session.keeps_arrays() ? 8 : 2;
    if (session.ranks() == 1 || !state_.dirty) return;
    if (!session.works_alone && session.commits >= most) return;
    session.commits++;
    if (state_.kind() == State::Kind::fallback && independent) {
        state_.fallback().sync();
        state_.dirty = false;
    }
    if (state_.kind() != State::Kind::writing) return;
    session.check(tw_sync(state_.file(), 0));
    state_.dirty = false;
}

// Puts the boxes of an entry. A large one is written at once, if possible, without a copy in the
// library.
int BatchWriter::put_boxes(const Variable& v, const Entry& e) {
    int status = TW_OK;
    const int packed = e.packed ? TW_PACKED : 0;
    e.for_boxes([&](const Shape& start, const Shape& count, Index first) {
        if (status != TW_OK) return;
        const Section box{start, count, e.stride};
        const char* const values = e.values + static_cast<std::size_t>(first) * size_of(v.type);
        status = e.stride.empty() && is_large(table_, v, count)
                     ? put_box(state_, v, box, values, packed | TW_ALONE)
                     : TW_EUNSUPPORTED;
        if (status == TW_EUNSUPPORTED) status = put_box(state_, v, box, values, packed);
    });
    return status;
}

Error BatchWriter::put_call(const PutCall& call) {
    const Variable& v = table_.variable(call.varid);
    const Entry* const e =
        call.entry < 0 ? nullptr : &queue_.entries()[static_cast<std::size_t>(call.entry)];
    const auto type = static_cast<tw_type>(v.type);
    int status = TW_OK;
    if (call.form == Form::box) {
        status = put_boxes(v, *e);
    } else {
        const Index n = e == nullptr ? 0 : e->elements() / call.records;
        for (Index r = 0; r < call.records && status == TW_OK; r++) {
            const char* const values =
                e == nullptr ? nullptr
                             : e->values + static_cast<std::size_t>(r * n) * size_of(v.type);
            status = tw_put_record_array(state_.file(), v.name.c_str(), call.decomposition,
                                         call.record + r, tw_dense(type, values, n),
                                         e != nullptr && e->packed ? TW_PACKED : TW_BORROWED);
        }
    }
    return state_.session.error_of_call(status);
}

// Sends each rank's sections to the root, one step after another.
void BatchWriter::write_by_root(const Batch& batch) {
    const MPI_Comm comm = state_.session.comm();
    const int root = state_.root, own = state_.session.rank();
    const auto for_messages = [](Index bytes, auto transfer) {
        for (Index done = 0; done < bytes; done += INT_MAX / 2)
            transfer(done, static_cast<int>(std::min<Index>(bytes - done, INT_MAX / 2)));
    };
    const auto bytes_of = [&](int varid, const Shape& count) {
        return volume(count) * static_cast<Index>(size_of(table_.variable(varid).type));
    };
    std::vector<std::vector<const Entry*>> mine(static_cast<std::size_t>(batch.steps));
    Index most = 0;
    for (const PutCall& call : batch.calls) {
        const Entry& e = queue_.entries()[static_cast<std::size_t>(call.entry)];
        mine[static_cast<std::size_t>(call.step)].push_back(&e);
        most = std::max(most, bytes_of(e.varid, e.count));
    }
    reduce(comm, MPI_MAX, &most, 1);
    std::string received;
    on_rank(comm, root, [&] { received.resize(static_cast<std::size_t>(most)); });
    Section s;
    const auto put = [&](int rank, const Entry* e) {
        int varid = e != nullptr ? e->varid : 0;
        share(comm, rank, &varid, 1);
        const Variable& v = table_.variable(varid);
        s.stride.assign(v.dims.size(), 1);
        if (e != nullptr) s = {e->start, e->count, e->stride.empty() ? s.stride : e->stride};
        for (Shape* const shape : {&s.start, &s.count, &s.stride}) {
            shape->resize(v.dims.size());
            share(comm, rank, shape->data(), v.dims.size());
        }
        const Index bytes = bytes_of(varid, s.count);
        if (e != nullptr && rank != root)
            for_messages(bytes, [&](Index at, int n) {
                MPI_Send(e->values + at, n, MPI_BYTE, root, 0, comm);
            });
        if (own == root && rank != root)
            for_messages(bytes, [&](Index at, int n) {
                MPI_Recv(received.data() + at, n, MPI_BYTE, rank, 0, comm, MPI_STATUS_IGNORE);
            });
        state_.fallback().put(varid, s.start, s.count, s.stride, v.type,
                              e != nullptr ? e->values : received.data(), Table::fill_of(v));
    };
    for (const std::vector<const Entry*>& entries : mine)
        for (int rank = 0; rank < state_.session.ranks(); rank++) {
            auto n = static_cast<Index>(entries.size());
            share(comm, rank, &n, 1);
            for (Index i = 0; i < n; i++)
                put(rank, rank == own ? entries[static_cast<std::size_t>(i)] : nullptr);
        }
}

}  // namespace thalweg::nc
