// Counts each rank's use of MPI between the program and MPI (by its profiling interface), so that a
// simulated run and a real one can be compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::scale {

/// The counts of one rank since it began.
struct Counts {
    std::int64_t messages = 0;          ///< number of messages sent to a single rank
    std::int64_t message_bytes = 0;     ///< bytes of these messages
    std::int64_t received = 0;          ///< messages received
    std::int64_t collectives = 0;       ///< number of calls that were collective over a
                                        ///< communicator
    std::int64_t collective_bytes = 0;  ///< bytes that this rank contributed to these calls
    std::int64_t communicators = 0;     ///< number of communicators that this rank helped to create
};

/// Returns the counts of this rank. Defined in a separate library, which must be loaded before that
/// of MPI.
extern "C" Counts* scale_counts();

/// Counts of the simulated storage over all ranks. In a real run they are 0.
struct StorageCounts {
    std::int64_t metadata = 0;  ///< number of times that files were created, opened or closed
    double settled = 0;         ///< value of MPI_Wtime at which the servers will have written all
                                ///< data
};
extern "C" StorageCounts* scale_storage() __attribute__((weak));

}  // namespace thalweg::scale
