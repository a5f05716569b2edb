// Memory that the ranks of a session share if all are on one node. Each file has a lane of it, in
// which each rank shows its progress.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <memory>

#include "nc/base/shape.hpp"

namespace thalweg::nc {

// The values that one rank has posted for a file. Only the latest ones are kept.
struct Lane {
    static constexpr Index kept = 16;

    std::atomic<Index> posted;  // number of posts for all files that have used the lane
    std::array<std::array<std::atomic<Index>, 2>, kept> values;
    std::atomic<Index> waits;        // number of the joint call in which the rank waits
    std::atomic<Index> definitions;  // hash of its definitions then
};

class Lanes {
public:
    // Makes the lanes of all ranks. Returns null if the ranks are not on one node, or have no
    // memory.
    // @note Collective
    static std::unique_ptr<Lanes> make(MPI_Comm comm);
    ~Lanes();
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

    // Takes a lane for a file; returns -1 if there is none that all ranks can use.
    // @note Collective
    int take();
    void give_back(int lane) { taken_[static_cast<std::size_t>(lane)] = false; }

    Lane& own(int lane) { return at(rank_, lane); }
    // Returns the largest values that the ranks have passed to their post `number`. Waits for ranks
    // that have not made this post yet, and lets MPI make progress meanwhile.
    // @param number  index of the post among those for all files that have used the lane; one of
    //                the latest Lane::kept posts
    std::array<Index, 2> most(int lane, Index number) const;
    // Tests if all other ranks wait in a joint call, and with these definitions.
    bool others_wait(int lane, Index call) const;
    bool others_have(int lane, Index definitions) const;

private:
    static constexpr int number_of_lanes = 32;

    explicit Lanes(MPI_Comm comm);
    Lane& at(int rank, int lane) const;
    bool all_others_show(int lane, std::atomic<Index> Lane::*word, Index value) const;

    MPI_Comm comm_;
    MPI_Win window_ = MPI_WIN_NULL;
    Lane* first_ = nullptr;  // lanes of rank 0, which those of the other ranks follow
    int rank_ = 0, ranks_ = 1;
    std::array<bool, number_of_lanes> taken_{};
};

}  // namespace thalweg::nc
