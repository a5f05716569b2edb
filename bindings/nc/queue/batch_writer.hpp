// Writes the puts that all ranks have queued: by calls of the library, or on one rank by netCDF-C.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nc/definitions/definitions.hpp"
#include "nc/queue/batch.hpp"
#include "nc/queue/queue.hpp"
#include "nc/state/state.hpp"

namespace thalweg::nc {

class BatchWriter {
public:
    BatchWriter(Definitions& definitions, State& state, Queue& queue)
        : definitions_(definitions),
          table_(definitions.table),
          state_(state),
          queue_(queue),
          batches_(state.session, definitions.table, queue) {}

    // @note The following functions are collective. They throw errors on all ranks alike.
    // Writes what was put.
    // @param goes_on  see State::end_step()
    // @param passed   some rank has passed values to the library
    // @param queued   some rank has queued values, which are put after those
    void write(bool goes_on, bool passed, bool queued);
    // Makes what was written readable by each rank alone, if there are several ranks. With the
    // service background this takes as long as the write. So it ends there after a few writes if
    // no rank has worked alone, in any file.
    // @param independent  some rank has put or read without the others, so it may read what was
    //                     written
    void commit(bool independent);

private:
    const Definitions& definitions_;
    const Table& table_;
    State& state_;
    Queue& queue_;
    Batches batches_;

    Error put_call(const PutCall& call);
    int put_boxes(const Variable& v, const Entry& e);
    void write_by_root(const Batch& batch);
};

// Puts a section by the call of the library that takes flags. Returns its status.
int put_box(const State& state, const Variable& v, const Section& section, const char* values,
            int flags);
// Tests if a box of a fixed-size variable is worth a write of its own.
bool is_large(const Table& table, const Variable& v, const Shape& count);

}  // namespace thalweg::nc
