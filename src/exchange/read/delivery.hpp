// Copies elements of a place that were read into the array of the rank that wants them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "exchange/pack/kernels.hpp"
#include "index/runs.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// The elements that this rank wants of one place, and the array that receives them.
struct Delivery {
    std::size_t place = 0;
    /// Null: the array is a dense section from `origin`.
    const Decomposition* decomposition = nullptr;
    std::span<const int> order;
    ArrayView array;
    std::vector<WantedBox> boxes;
    RowKernel kernel = nullptr;
    /// See origin_of(); for a section, the address of its first element.
    Strided origin{};
    Index step = each_element;  ///< for a section: distance from one wanted element to the next
    std::int64_t misfits = 0;   ///< counts values that do not fit the array's type
    Delivery* other = nullptr;  ///< next delivery of the same place; set during a pass
};

/// Returns the address in the array of position 0 of a list. Boxes have an address each.
Strided origin_of(const Delivery& delivery);

/// Copies `part` of the box `wanted` to its place in the array. Allocates nothing.
/// @param from  address of the elements of `part`
/// @param fill  replaces values that do not fit the array's type
void deliver(Delivery& delivery, const WantedBox& wanted, const Box& part, const char* from,
             const Index& from_stride, const char* fill);

}  // namespace thalweg::detail
