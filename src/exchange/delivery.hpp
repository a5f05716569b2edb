// Copies from what was read of a place to the array of the rank that wants it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "exchange/kernels.hpp"
#include "index/runs.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// The elements that this rank wants of one place, and the array that receives them.
struct Delivery {
    std::size_t place = 0;
    const Decomposition* decomposition = nullptr;  ///< null: a section, dense from `origin` on
    std::span<const int> order;
    ArrayView array;
    std::vector<WantedBox> boxes;
    RowKernel kernel = nullptr;
    Strided origin{};           ///< see origin_of(); for a section, the place of its first element
    Index step = each_element;  ///< for a section: from one wanted element to the next
    std::int64_t misfits = 0;   ///< counts values that do not fit the array's type
    Delivery* other = nullptr;  ///< next one for the same place; set in a pass
};

/// Returns the place of position 0 of a list in the array; boxes have a place each.
Strided origin_of(const Delivery& delivery);

/// Copies `part` of the box `wanted`, whose elements lie from `from` on, to its place in the array.
/// Takes no memory.
/// @param fill  for values that do not fit the array's type
void deliver(Delivery& delivery, const WantedBox& wanted, const Box& part, const char* from,
             const Index& from_stride, const char* fill);

/// Returns the strides, in bytes, of a place's elements, dense in the order of the file.
Index byte_strides(const Place& place);

}  // namespace thalweg::detail
