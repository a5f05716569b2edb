// Where the blocks of all ranks begin: the lines of a process grid, found without knowing it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Sorted lists of indices, one a dimension.
using Starts = std::vector<std::vector<std::int64_t>>;

/**
 * Unites the lists of all ranks, pairwise up a tree: a rank has as many messages as the logarithm
 * of their number. A list that grows beyond `most` entries, which no process grid has, loses every
 * second one.
 * Throws NoMemoryAnywhere on all ranks.
 * @param own  as many lists on every rank
 * @note Collective
 */
Starts unite_starts(Comm& comm, Starts own, std::size_t most = 16384);

}  // namespace thalweg::detail
