// What each rank has asked of MPI, counted between the program and MPI (by its profiling
// interface), so that a simulated run and a real one can be compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::scale {

/// Of one rank, since it began.
struct Counts {
    std::int64_t messages = 0;          ///< sent to one rank
    std::int64_t message_bytes = 0;     ///< in them
    std::int64_t received = 0;          ///< messages
    std::int64_t collectives = 0;       ///< calls that all ranks of a communicator make
    std::int64_t collective_bytes = 0;  ///< that this rank gave to them
    std::int64_t communicators = 0;     ///< that it took part in making
};

/// Of this rank. In a library of its own, which has to be loaded before MPI's.
extern "C" Counts* scale_counts();

/// What the simulated storage tells, of all ranks. Nothing of it changes in a real run.
struct StorageCounts {
    std::int64_t metadata = 0;  ///< files created, opened and closed
    double settled = 0;         ///< when the servers will have all that was written, by MPI_Wtime
};
extern "C" StorageCounts* scale_storage() __attribute__((weak));

}  // namespace thalweg::scale
