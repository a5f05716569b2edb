// Finds elements that two boxes hold, without any rank seeing all boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/**
 * Finds blocks of two ranks that overlap. The index space is divided into a grid with one cell per
 * rank. Each rank sends its boxes to the ranks whose cells they overlap, and each rank compares the
 * boxes that it receives.
 * @param blocks  number of all ranks' blocks, and sums of their extents
 * @return TW_EOVERLAP naming both ranks and an element, on the rank that has found the overlap
 * @note Collective over comm
 */
Status find_overlap(Comm& comm, const Decomposition& decomposition,
                    std::span<const std::int64_t> blocks);

}  // namespace thalweg::detail
