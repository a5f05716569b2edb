// Strided copies of the elements of a list, or of a held box, within a box.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"
#include "exchange/pack/copy.hpp"

namespace thalweg::detail {

/// One side of a copy. Its stride along the fastest listed dimension leads, according to `order`,
/// from one index to the next, from one position of the list to the next, or from one dense element
/// to the next. Other listed dimensions have a stride only in an array in the order of indices.
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

/// Copies the elements of a held box that lie in a smaller box.
inline std::int64_t copy_held(const HeldBox& held, const Box& box, const RunSide<char>& to,
                              const RunSide<const char>& from, RowKernel kernel, const char* fill) {
    return held.list ? copy_runs(*held.list, box, to, from, kernel, fill)
                     : copy_box(box.nd, box.count, to.base, to.stride, from.base, from.stride,
                                kernel, fill);
}

}  // namespace thalweg::detail
