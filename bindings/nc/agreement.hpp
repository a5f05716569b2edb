// The values that the ranks of a file exchange while the program goes on: each collective put
// starts a reduction that nobody waits for before the eighth put after it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <optional>

#include "map.hpp"

namespace thalweg::nc {

// The largest values of all ranks.
struct Progress {
    Index records = 0;
    Index bytes = 0;  // queued
};

class Reductions {
public:
    // @note Collective
    explicit Reductions(MPI_Comm comm) { MPI_Comm_dup(comm, &comm_); }
    ~Reductions();
    Reductions(const Reductions&) = delete;
    Reductions& operator=(const Reductions&) = delete;

    // Starts the reduction of a collective put. Returns the result of the eighth one before it, for
    // which it waits; the same on every rank.
    std::optional<Progress> post(Progress mine);
    Index posted() const { return posted_; }

    // Waits for what runs. Returns the largest number of records so far.
    Index wait();
    // Takes part in the reductions that other ranks have started and this one has not, because its
    // arguments were wrong.
    void catch_up(Index posted);

private:
    static constexpr Index most = 8;  // largest number of reductions that run at the same time

    struct Running {
        MPI_Request request = MPI_REQUEST_NULL;
        std::array<Index, 2> values{};
    };

    MPI_Comm comm_ = MPI_COMM_NULL;
    std::array<Running, most> running_;
    Index posted_ = 0;
    Index records_ = 0;  // number of records according to the reductions that have ended

    void finish(Running& r);
};

}  // namespace thalweg::nc
