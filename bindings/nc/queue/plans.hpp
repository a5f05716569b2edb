// Batches on which the ranks have agreed before. A model puts the same sections in each record. If
// every rank has the same puts as in an earlier batch, one or more records later, the calls of that
// batch are repeated, and the ranks need not compare their puts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "nc/queue/batch.hpp"

namespace thalweg::nc {

class Plans {
public:
    static constexpr Index no_record = INT64_MAX;

    // The puts that this rank has queued: a key of them; the number of the plan with the same puts
    // (-1: none); and their first record (no_record: none).
    struct Own {
        Key key{};
        Index plan = -1;
        Index first = no_record;
    };

    Own find(const Session& session, const Table& table, const std::vector<Entry>& entries) const;

    // Fills a batch with the calls of a plan, for another first record. Allocates no memory if the
    // same plan has filled the batch before.
    void repeat(Index plan, Index first, Batch& batch) const;
    // Keeps a batch as a plan. All ranks must keep the same batches.
    void keep(const Session& session, const Own& own, Index first, const Batch& batch);

private:
    static constexpr std::size_t most = 8;

    struct Plan {
        Key key{};  // key of this rank's puts
        Batch batch;
        Index first = no_record;
        // Value of Session::decompositions_freed when the plan was made.
        std::int64_t decompositions = 0;
    };
    std::vector<Plan> plans_;
};

}  // namespace thalweg::nc
