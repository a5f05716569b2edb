// Strided copies of what a list has of a box.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/index_list.hpp"
#include "exchange/copy.hpp"

namespace thalweg {

/// One side of a copy. Along the fastest listed dimension its stride is that from index to index,
/// or from position to position of the list; other listed dimensions have none by position.
struct RunSide {
    char* base = nullptr;  ///< of the box's first element, or of position 0
    Index stride{};
};

/**
 * Copies what a list has of a box between an array in the order of indices and one in the order of
 * positions.
 * @param by_index     its base is the address of the first element of the box
 * @param by_position  its base is the address of position 0, at the box's low corner otherwise
 * @return number of values that did not fit (see RowKernel)
 */
std::int64_t copy_to_indices(const Listing& listing, const Box& box, const RunSide& by_index,
                             const RunSide& by_position, RowKernel kernel, const char* fill);
std::int64_t copy_to_positions(const Listing& listing, const Box& box, const RunSide& by_index,
                               const RunSide& by_position, RowKernel kernel, const char* fill);

}  // namespace thalweg
