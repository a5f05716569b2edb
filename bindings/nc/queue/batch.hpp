// Converts the puts that the ranks make between two joint calls (see puts.hpp) to calls of the
// library. A single section is put as a box, which the library routes element by element. If all
// ranks put the same variables, the sections of one put form a decomposition; the library then
// writes in file order without another copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <map>
#include <vector>

#include "nc/base/session.hpp"
#include "nc/definitions/table.hpp"
#include "nc/queue/queue.hpp"

namespace thalweg::nc {

enum class Form {
    box,         // each rank puts its own box
    decomposed,  // all ranks put by one decomposition
    replicated   // the variable is replicated: all ranks have all of it
};

// One put call of the library.
struct PutCall {
    int varid = 0;
    int entry = -1;  // index of the put in this rank's queue; -1: the rank puts nothing
    Form form = Form::box;
    tw_decomposition decomposition = nullptr;
    Index record = 0, records = 1;
    int step = 0;  // calls of the same step have no elements in common between ranks
};

struct Batch {
    std::vector<PutCall> calls;  // sorted by step
    int steps = 1;
};

// Returns the decomposition for an array whose boxes the ranks hold. Returns null if boxes overlap
// and the decomposition is for writing.
// @param entry  put with this rank's boxes along the last dimensions; null: none
// @param pieces  largest number of boxes on any rank
// @note Collective
tw_decomposition decompose(Session& session, const Shape& shape, const Entry* entry, Index pieces,
                           bool reading);

// Returns the library's calls for all puts that the ranks have queued.
// @param boxes  use only calls of the form PutCall::box
Batch make_batch(Session& session, const Table& table, const Queue& queue, bool boxes);

}  // namespace thalweg::nc
