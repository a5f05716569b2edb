// Finds indices that several ranks hold, without any rank seeing all lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/// An index that two ranks hold.
struct Duplicate {
    std::int64_t global = -1;  ///< -1: there is none
    int ranks[2] = {-1, -1};
    std::int64_t positions[2] = {-1, -1};  ///< positions in the lists of the two ranks
};

/**
 * Rank r of P looks after the indices from r N / P on; every rank tells it what it holds of them,
 * a few bytes a run, and it merges what it is told. Goes in rounds, each of a part of all ranges,
 * so that a round's messages stay small.
 * @param total      indices are below it
 * @param most_runs  of any rank
 * @param found      on all ranks alike, the duplicate that the lowest rank has found
 * @note Collective; the status is the same on every rank
 */
Status find_duplicate(Comm& comm, const IndexList& list, std::int64_t total, std::int64_t most_runs,
                      Duplicate& found);

}  // namespace thalweg::detail
