// Strided copies of boxes: index swap, conversion and byte order in one pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange/pack/kernels.hpp"
#include "index/box.hpp"

namespace thalweg::detail {

/**
 * Copies a box of elements from one strided array to another. Dimensions that are contiguous with
 * each other in both arrays are merged. Where the arrays differ in the dimension of unit stride,
 * the copy goes in tiles that stay in cache.
 * @param nd     number of dimensions
 * @param count  elements of the box in each dimension
 * @return number of values that did not fit (see RowKernel)
 */
std::int64_t copy_box(int nd, const Index& count, char* to, const Index& to_stride,
                      const char* from, const Index& from_stride, RowKernel kernel,
                      const char* fill);

/// Copies a part of a larger copy as copy_box() does, but does not report it to a simulation, which
/// has already accounted for the larger copy (base/work.hpp).
std::int64_t move_box(int nd, const Index& count, char* to, const Index& to_stride,
                      const char* from, const Index& from_stride, RowKernel kernel,
                      const char* fill);

}  // namespace thalweg::detail
