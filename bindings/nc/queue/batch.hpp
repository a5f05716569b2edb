// Converts the puts that the ranks make between two joint calls (see puts.hpp) to calls of the
// library. A single section is put as a box, which the library routes element by element. If all
// ranks put the same variables, the sections of one put form a decomposition; the library then
// writes in file order without another copy.
//
// A model puts the same sections in each record. If every rank has the same puts as in an earlier
// batch, one or more records later, the calls of that batch are repeated, and the ranks need not
// compare their puts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

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

// The batches of a file.
class Batches {
public:
    Batches(Session& session, const Table& table, const Queue& queue)
        : session_(session), table_(table), queue_(queue) {}

    // Both functions return the library's calls for all puts that the ranks have queued.
    // @note Collective
    Batch next();
    Batch boxes();  // only calls of the form PutCall::box

private:
    // A batch on which the ranks have agreed.
    struct Plan {
        Key key{};  // key of this rank's puts
        Index first = 0;
        Batch batch;
        // Value of Session::decompositions_freed when the plan was made.
        std::int64_t decompositions = 0;
    };

    Session& session_;
    const Table& table_;
    const Queue& queue_;
    std::vector<Plan> plans_;

    bool has_record(const Entry& e) const {
        return !e.empty && table_.is_record(table_.variables[static_cast<std::size_t>(e.varid)]);
    }
    Index first_record() const;
    Key key_of_puts(Index first) const;
    Index find(const Key& key) const;
};

}  // namespace thalweg::nc
