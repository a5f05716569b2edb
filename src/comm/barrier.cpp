// SPDX-License-Identifier: Apache-2.0
#include "comm/barrier.hpp"

namespace thalweg::detail {

std::function<bool()> begin_barrier(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm, &request);
    return [request]() mutable {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    };
}

}  // namespace thalweg::detail
