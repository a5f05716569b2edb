// Batches that were agreed on before. A model puts the same sections in each record: if every rank
// has again what it had in a batch, its calls are made again, one or more records later, and the
// ranks need not compare them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "batch.hpp"

namespace thalweg::nc {

class Plans {
public:
    static constexpr Index no_record = INT64_MAX;

    // This rank's puts: the number of the plan in which it had the same ones, -1 if there is none,
    // and the first record, no_record if it puts none.
    struct Own {
        Session::Key key{};
        Index plan = -1;
        Index first = no_record;
    };

    Own find(const Session& session, const Table& table, const std::vector<Entry>& entries) const;

    // Sets a batch to that of a plan, for another first record. One that was set by the same plan
    // needs no memory.
    void repeat(Index plan, Index first, Batch& batch) const;
    // Keeps a batch for later. All ranks do, and have the same first record, or none.
    void keep(const Session& session, const Own& own, Index first, const Batch& batch);

private:
    static constexpr std::size_t most = 8;

    struct Plan {
        Session::Key key{};  // of this rank's puts
        Batch batch;
        Index first = no_record;
        std::int64_t decompositions = 0;  // state of the session's
    };
    std::vector<Plan> plans_;
};

}  // namespace thalweg::nc
