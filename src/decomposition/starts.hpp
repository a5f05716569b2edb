// The indices at which the blocks of all ranks begin: the lines of a process grid that is not
// known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Sorted lists of indices, one for each dimension.
using Starts = std::vector<std::vector<std::int64_t>>;

/**
 * Unites the lists of all ranks, pairwise along a tree, so a rank has only logarithmically many
 * messages. A list that grows beyond `most` entries, more than any process grid has, loses every
 * second one. Throws NoMemoryAnywhere on all ranks.
 * @param own  the same number of lists on every rank
 * @note Collective
 */
Starts unite_starts(Comm& comm, Starts own, std::size_t most = 16384);

}  // namespace thalweg::detail
