// From what was read of a place to the array of the rank that wants it.
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

/// What this rank wants of one place, and where it is to go.
struct Delivery {
    std::size_t place = 0;
    const Decomposition* decomposition = nullptr;  ///< null: a section, dense from `origin` on
    std::span<const int> order;
    ArrayView array;
    std::vector<WantedBox> boxes;
    RowKernel kernel = nullptr;
    Strided origin{};           ///< see origin_of(); of a section, where its first element goes
    Index step = each_element;  ///< of a section: from one wanted element to the next
    std::int64_t misfits = 0;   ///< counts values that do not fit the array's type
    Delivery* other = nullptr;  ///< of the same place; set in a pass
};

/// Where position 0 of a list goes; of boxes, each has its own place.
Strided origin_of(const Delivery& delivery);

/// Copies `part` of the box `wanted`, whose elements lie from `from` on, to its place in the array.
/// Takes no memory.
/// @param fill  for values that do not fit the array's type
void deliver(Delivery& delivery, const WantedBox& wanted, const Box& part, const char* from,
             const Index& from_stride, const char* fill);

/// Strides in bytes of a place's elements, one behind another in the order of the file.
Index byte_strides(const Place& place);

}  // namespace thalweg::detail
