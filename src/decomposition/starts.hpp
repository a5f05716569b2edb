// The indices at which the blocks of all ranks begin. They show the lines of the model's process
// grid, which the library does not know.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Sorted lists of indices, one for each dimension.
using Starts = std::vector<std::vector<std::int64_t>>;

/**
 * Unites the lists of all ranks pairwise along a tree, so that the number of messages of a rank is
 * logarithmic in the number of ranks. A list with more than `most` entries loses every second one;
 * no process grid has so many. Throws NoMemoryAnywhere on all ranks if one of them runs out of
 * memory.
 * @param own  lists of this rank; each rank has the same number of lists
 * @note Collective
 */
Starts unite_starts(Comm& comm, Starts own, std::size_t most = 16384);

}  // namespace thalweg::detail
