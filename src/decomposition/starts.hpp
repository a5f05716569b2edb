// The indices at which the blocks of all ranks begin. They show the lines of the model's process
// grid, which the library does not know.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Indices at which blocks start, sorted, for each dimension.
using Starts = std::vector<std::vector<std::int64_t>>;

/**
 * Unites the lists of all ranks. If a dimension is longer than `most`, it is divided into at most
 * this number of intervals, and of each only the first start is kept; no process grid has so many.
 * @param own      lists of this rank; each rank has the same number of lists
 * @param lengths  of the dimensions
 * @note Collective
 */
Starts unite_starts(Comm& comm, const Starts& own, std::span<const std::int64_t> lengths,
                    std::int64_t most = 16384);

}  // namespace thalweg::detail
