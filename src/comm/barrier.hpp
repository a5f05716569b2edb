// A barrier that ranks enter without waiting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>

namespace thalweg::detail {

/// Enters the barrier. @return a test if all ranks have entered it, which must not be called again
/// after it has returned true. It takes no memory. @note Collective
std::function<bool()> begin_barrier(MPI_Comm comm);

}  // namespace thalweg::detail
