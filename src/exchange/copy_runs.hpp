// Strided copies of the elements of a list within a box.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/index_list.hpp"
#include "exchange/copy.hpp"

namespace thalweg::detail {

/// One side of a copy. Along the fastest listed dimension its stride leads from index to index,
/// from position to position of the list, or from one dense element to the next; along other listed
/// dimensions only an array in the order of indices has one.
template <class Byte>
struct RunSide {
    RunOrder order;
    Byte* base;  ///< address of the box's first element, or of position 0 or dense element 0
    Index stride;
};

/**
 * Copies the elements of a list within a box from one array to another.
 * @return number of values that did not fit (see RowKernel)
 */
std::int64_t copy_runs(const Listing& listing, const Box& box, const RunSide<char>& to,
                       const RunSide<const char>& from, RowKernel kernel, const char* fill);

}  // namespace thalweg::detail
