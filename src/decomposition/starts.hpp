// The indices at which the blocks of all ranks begin: the lines of a process grid that is not
// known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Sorted lists of indices, one a dimension.
using Starts = std::vector<std::vector<std::int64_t>>;

/**
 * Unites the lists of all ranks, pairwise up a tree: a rank sends and receives as many messages as
 * the logarithm of the number of ranks. A list that grows beyond `most` entries, which no process
 * grid has, loses every second one. Throws NoMemoryAnywhere on all ranks.
 * @param own  the same number of lists on every rank
 * @note Collective
 */
Starts unite_starts(Comm& comm, Starts own, std::size_t most = 16384);

}  // namespace thalweg::detail
