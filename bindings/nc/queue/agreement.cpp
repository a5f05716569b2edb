// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/agreement.hpp"

#include <algorithm>

#include "nc/base/lanes.hpp"

namespace thalweg::nc {

Reductions::Reductions(MPI_Comm comm, Lanes* lanes) : lanes_(lanes) {
    if (lanes != nullptr) lane_ = lanes->take();
    if (lane_ >= 0)
        before_ = lanes->own(lane_).posted.load(std::memory_order_relaxed);
    else if (comm != MPI_COMM_NULL)
        MPI_Comm_dup(comm, &comm_);
}

Reductions::~Reductions() {
    if (lane_ >= 0)
        lanes_->give_back(lane_);
    else
        wait();
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

// Waits for reduction `number` and all earlier ones.
void Reductions::end(Index number) {
    for (; ended_ <= number; ended_++) {
        Running& r = running_[static_cast<std::size_t>(ended_ % most)];
        if (lane_ >= 0) r.values = lanes_->most(lane_, before_ + ended_);
        if (r.request != MPI_REQUEST_NULL) MPI_Wait(&r.request, MPI_STATUS_IGNORE);
        records_ = std::max(records_, r.values[0]);
    }
}

std::optional<Progress> Reductions::post(Progress mine) {
    static_assert(2 * most <= Lane::kept);  // a rank can be this far ahead of another
    Running& r = running_[static_cast<std::size_t>(posted_ % most)];
    std::optional<Progress> before;
    if (posted_ >= most) {
        end(posted_ - most);
        before = {r.values[0], r.values[1]};
    }
    r.values = {mine.records, mine.bytes};
    if (lane_ >= 0) {
        Lane& lane = lanes_->own(lane_);
        auto& values = lane.values[static_cast<std::size_t>((before_ + posted_) % Lane::kept)];
        for (std::size_t i = 0; i < values.size(); i++)
            values[i].store(r.values[i], std::memory_order_relaxed);
        lane.posted.store(before_ + posted_ + 1, std::memory_order_release);
    } else if (comm_ != MPI_COMM_NULL) {
        MPI_Iallreduce(MPI_IN_PLACE, r.values.data(), 2, MPI_INT64_T, MPI_MAX, comm_, &r.request);
    }
    posted_++;
    return before;
}

Index Reductions::wait() {
    end(posted_ - 1);
    return records_;
}

void Reductions::catch_up(Index posted) {
    while (posted_ < posted) post({});
}

void Reductions::show_waiting(Index call, Index definitions) {
    if (lane_ < 0) return;
    lanes_->own(lane_).definitions.store(definitions, std::memory_order_relaxed);
    lanes_->own(lane_).waits.store(call, std::memory_order_release);
}

bool Reductions::others_wait(Index call) const {
    return lane_ >= 0 && lanes_->others_wait(lane_, call);
}

bool Reductions::others_have(Index definitions) const {
    return lane_ >= 0 && lanes_->others_have(lane_, definitions);
}

}  // namespace thalweg::nc
