// Finds elements that two boxes hold, without any rank seeing all boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/**
 * The index space is cut into a grid of one cell a rank; every rank sends its boxes to the cells
 * they meet, and each cell compares what it got. Costs a rank as many messages as its boxes meet
 * cells.
 * @param blocks  of all ranks: their number, and the sums of their extents
 * @return TW_EOVERLAP naming both ranks and an element, on the rank that found it
 * @note Collective over comm
 */
Status find_overlap(Comm& comm, const Decomposition& decomposition,
                    std::span<const std::int64_t> blocks);

}  // namespace thalweg::detail
