// SPDX-License-Identifier: Apache-2.0
#include "nc/base/lanes.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include "nc/base/ranks.hpp"

namespace thalweg::nc {

static_assert(std::atomic<Index>::is_always_lock_free);

Lanes::Lanes(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), ranks_(size_of_comm(comm)) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    // Rank 0 allocates the memory of all ranks. The lanes of different ranks are on separate cache
    // lines.
    const MPI_Aint bytes =
        rank_ == 0 ? static_cast<MPI_Aint>(sizeof(Lane)) * number_of_lanes * ranks_ : 0;
    void* own = nullptr;
    int made =
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm_, &own, &window_) == MPI_SUCCESS ? 1
                                                                                               : 0;
    reduce(comm_, MPI_MIN, &made, 1);
    if (made == 0) return;
    MPI_Aint size = 0;
    int unit = 0;
    void* all = nullptr;
    MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&all));
    first_ = static_cast<Lane*>(all);
    for (int lane = 0; lane < number_of_lanes; lane++) new (&at(rank_, lane)) Lane{};
    MPI_Barrier(comm_);
}

Lanes::~Lanes() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    MPI_Comm_free(&comm_);
}

std::unique_ptr<Lanes> Lanes::make(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || std::getenv("THALWEG_NODE_SIZE") != nullptr) return nullptr;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &node);
    if (size_of_comm(node) != size_of_comm(comm)) {
        MPI_Comm_free(&node);
        return nullptr;
    }
    std::unique_ptr<Lanes> lanes(new Lanes(node));
    return lanes->first_ != nullptr ? std::move(lanes) : nullptr;
}

Lane& Lanes::at(int rank, int lane) const { return first_[rank * number_of_lanes + lane]; }

// Takes a lane. All ranks have posted the same number of times in an unused lane, unless a file has
// not ended on some of them.
int Lanes::take() {
    constexpr Index none = std::numeric_limits<Index>::max();
    const auto free = std::find(taken_.begin(), taken_.end(), false);
    const int lane = free == taken_.end() ? -1 : static_cast<int>(free - taken_.begin());
    const Index posted = lane < 0 ? none : own(lane).posted.load(std::memory_order_relaxed);
    Index least[] = {lane, -Index{lane}, posted, -posted};
    reduce(comm_, MPI_MIN, least, 4);
    if (lane < 0 || least[0] != -least[1] || least[2] != -least[3]) return -1;
    *free = true;
    return lane;
}

std::array<Index, 2> Lanes::most(int lane, Index number) const {
    constexpr int patience = 100;
    std::array<Index, 2> result{};
    for (int rank = 0; rank < ranks_; rank++) {
        const Lane& l = at(rank, lane);
        for (int tries = 0; l.posted.load(std::memory_order_acquire) <= number; tries++) {
            if (tries < patience) continue;
            int found = 0;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
            sched_yield();
        }
        const auto& values = l.values[static_cast<std::size_t>(number % Lane::kept)];
        for (std::size_t i = 0; i < result.size(); i++)
            result[i] = std::max(result[i], values[i].load(std::memory_order_relaxed));
    }
    return result;
}

bool Lanes::all_others_show(int lane, std::atomic<Index> Lane::*word, Index value) const {
    for (int rank = 0; rank < ranks_; rank++)
        if (rank != rank_ && (at(rank, lane).*word).load(std::memory_order_acquire) != value)
            return false;
    return true;
}

bool Lanes::others_wait(int lane, Index call) const {
    return all_others_show(lane, &Lane::waits, call);
}

bool Lanes::others_have(int lane, Index definitions) const {
    return all_others_show(lane, &Lane::definitions, definitions);
}

}  // namespace thalweg::nc
