// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <algorithm>

namespace thalweg::nc {

Reductions::~Reductions() {
    wait();
    MPI_Comm_free(&comm_);
}

void Reductions::finish(Running& r) {
    MPI_Wait(&r.request, MPI_STATUS_IGNORE);
    records_ = std::max(records_, r.values[0]);
}

std::optional<Progress> Reductions::post(Progress mine) {
    Running& r = running_[static_cast<std::size_t>(posted_ % most)];
    finish(r);
    std::optional<Progress> before;
    if (posted_ >= most) before = {r.values[0], r.values[1]};
    r.values = {mine.records, mine.bytes};
    MPI_Iallreduce(MPI_IN_PLACE, r.values.data(), 2, MPI_INT64_T, MPI_MAX, comm_, &r.request);
    posted_++;
    return before;
}

Index Reductions::wait() {
    for (Running& r : running_) finish(r);
    return records_;
}

void Reductions::catch_up(Index posted) {
    while (posted_ < posted) post({});
}

}  // namespace thalweg::nc
