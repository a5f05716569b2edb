// The values that the ranks of a file exchange while the program goes on: each collective put
// posts some that nobody waits for before the eighth put after it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <optional>

#include "map.hpp"

namespace thalweg::nc {

class Lanes;

// The largest values of all ranks.
struct Progress {
    Index records = 0;
    Index bytes = 0;  // queued
};

class Reductions {
public:
    // @param lanes  of the ranks if they share memory; else null
    // @note Collective
    Reductions(MPI_Comm comm, Lanes* lanes);
    ~Reductions();
    Reductions(const Reductions&) = delete;
    Reductions& operator=(const Reductions&) = delete;

    // Posts the values of a collective put. Returns the result of the eighth one before it, for
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

    MPI_Comm comm_ = MPI_COMM_NULL;  // where there is no lane
    Lanes* lanes_ = nullptr;
    int lane_ = -1;
    Index before_ = 0;  // posted in the lane for other files
    std::array<Running, most> running_;
    Index posted_ = 0;
    Index ended_ = 0;
    Index records_ = 0;  // number of records according to the reductions that have ended

    void end(Index number);
};

}  // namespace thalweg::nc
