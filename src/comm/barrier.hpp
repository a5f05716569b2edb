// A barrier that ranks enter without waiting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>

namespace thalweg::detail {

/// Enters a barrier. Takes no memory.
/// @return function that tests if all ranks have entered it. This function must not be called again
///     after it has returned true
/// @note Collective
std::function<bool()> begin_barrier(MPI_Comm comm);

}  // namespace thalweg::detail
