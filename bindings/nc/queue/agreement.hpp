// The values that the ranks of a file exchange while the program continues. Each collective put
// posts some values; ranks wait for them only in the eighth put after it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <optional>

#include "nc/base/shape.hpp"

namespace thalweg::nc {

class Lanes;

// The largest values over all ranks.
struct Progress {
    Index records = 0;
    Index bytes = 0;  // number of bytes in the queue
};

class Reductions {
public:
    // @param lanes  lanes of the ranks if they share memory; otherwise null
    // @note Collective
    Reductions(MPI_Comm comm, Lanes* lanes);
    ~Reductions();
    Reductions(const Reductions&) = delete;
    Reductions& operator=(const Reductions&) = delete;

    // Posts this rank's values for a collective put. Waits for the eighth earlier post and returns
    // its result, which is the same on every rank.
    std::optional<Progress> post(Progress mine);
    Index posted() const { return posted_; }

    // Waits for all reductions that are running. Returns the largest number of records.
    Index wait();
    // Posts for the reductions that other ranks have started while this rank's arguments were
    // wrong.
    void catch_up(Index posted);

    // Shows the other ranks that this rank waits in a joint call, whose number no other one has.
    // @param definitions  hash of this rank's definitions
    void show_waiting(Index call, Index definitions = 0);
    // Tests if all other ranks wait in a joint call, as far as this rank can see.
    bool others_wait(Index call) const;
    // Tests if the ranks that wait have these definitions.
    bool others_have(Index definitions) const;

private:
    static constexpr Index most = 8;  // largest number of reductions that run at the same time

    struct Running {
        MPI_Request request = MPI_REQUEST_NULL;
        std::array<Index, 2> values{};
    };

    MPI_Comm comm_ = MPI_COMM_NULL;  // used without a lane
    Lanes* lanes_ = nullptr;
    int lane_ = -1;
    Index before_ = 0;  // number of posts in the lane for earlier files
    std::array<Running, most> running_;
    Index posted_ = 0;
    Index ended_ = 0;
    Index records_ = 0;  // number of records, according to the completed reductions

    void end(Index number);
};

}  // namespace thalweg::nc
