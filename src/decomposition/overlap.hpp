// Finds elements that two boxes hold, without any rank seeing all boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/**
 * Finds blocks of two ranks that overlap. The index space is divided into a grid with one cell per
 * rank. Every rank sends its boxes to the cells that they overlap, and each cell compares what it
 * has received. A rank sends as many messages as its boxes overlap cells.
 * @param blocks  of all ranks: their number, and the sums of their extents
 * @return TW_EOVERLAP naming both ranks and an element, on the rank that found it
 * @note Collective over comm
 */
Status find_overlap(Comm& comm, const Decomposition& decomposition,
                    std::span<const std::int64_t> blocks);

}  // namespace thalweg::detail
