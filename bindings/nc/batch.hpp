// The puts of the ranks between two joint calls, as calls of the library. A section by itself is
// a box, which the library routes element by element; if all ranks put the same variables, the
// sections of a put are a decomposition, which it writes in file order without another copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <map>
#include <vector>

#include "queue.hpp"
#include "session.hpp"
#include "table.hpp"

namespace thalweg::nc {

enum class Form {
    box,         // each rank puts a box of its own
    decomposed,  // all ranks put by a decomposition
    replicated   // all ranks have the whole variable
};

// One put of the library.
struct PutCall {
    int varid = 0;
    int entry = -1;  // number in this rank's queue; -1: it holds nothing
    Form form = Form::box;
    tw_decomposition decomposition = nullptr;
    Index record = 0, records = 1;
    int step = 0;  // calls of one step do not overlap between ranks
};

struct Batch {
    std::vector<PutCall> calls;  // in the order of their steps
    int steps = 1;
};

// Returns the decomposition of an array whose boxes the ranks hold; null if they overlap and it is
// for writing.
// @param entry  this rank's boxes along the last dimensions; null: none
// @param pieces  most boxes of a rank
// @note Collective
tw_decomposition decompose(Session& session, const Shape& shape, const Entry* entry, Index pieces,
                           bool reading);

// Makes the library's calls for all that the ranks have queued.
// @param boxes  use no other form of call
Batch make_batch(Session& session, const Table& table, const std::vector<Entry>& entries,
                 bool boxes);

}  // namespace thalweg::nc
