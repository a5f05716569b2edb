// Finds indices that several ranks hold, without any rank seeing all lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/// An index that two ranks hold.
struct Duplicate {
    std::int64_t global = -1;  ///< the index; -1: there is none
    int ranks[2] = {-1, -1};
    std::int64_t positions[2] = {-1, -1};  ///< its positions in the lists of the two ranks
};

/**
 * Finds an index that two ranks hold. Rank r of P examines the indices from r N / P to the next
 * rank's. Every rank sends it those that it holds, in a few bytes per run, and the rank merges
 * them. This is done in rounds, each for a part of all ranges, so that messages stay small.
 * @param total      upper bound of the indices
 * @param most_runs  largest number of runs of any rank
 * @param found      receives, on all ranks alike, the duplicate that the lowest rank has found
 * @note Collective; the status is the same on every rank
 */
Status find_duplicate(Comm& comm, const IndexList& list, std::int64_t total, std::int64_t most_runs,
                      Duplicate& found);

}  // namespace thalweg::detail
