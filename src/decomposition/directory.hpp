// Finds indices that several ranks hold, without any rank seeing all lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/team.hpp"
#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/// An index that occurs twice in the lists of the ranks.
struct Duplicate {
    std::int64_t global = -1;  ///< the index; -1: no index occurs twice
    int ranks[2] = {-1, -1};
    std::int64_t positions[2] = {-1, -1};  ///< positions of the index in the lists of the two ranks
};

/**
 * Finds an index that two ranks hold. Each rank examines an equal range of all indices: all ranks
 * send it the indices that they hold in this range, with a few bytes for each run, and it merges
 * them. Ranges are examined in several rounds, so that messages stay small.
 * @param total      number of indices in the space
 * @param most_runs  largest number of runs of any rank
 * @param found      receives, on all ranks, the duplicate that the lowest rank has found
 * @note Collective; the status is the same on every rank
 */
Status find_duplicate(Team& team, const IndexList& list, std::int64_t total, std::int64_t most_runs,
                      Duplicate& found);

}  // namespace thalweg::detail
