// Copies a block from memory order to file order, as a user must for a library that knows only one
// order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace thalweg::bench {

/// Returns row-major strides in elements.
std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape);

/// Copies a box of `count` elements between two arrays, whose strides are in elements.
void copy_block(const std::vector<std::int64_t>& count, const void* from,
                const std::vector<std::int64_t>& from_stride, void* to,
                const std::vector<std::int64_t>& to_stride, std::int64_t bytes_per_element);

/// Copies a part of a group in memory order to a dense block in file order.
void to_file_order(const Group& group, const Part& part, const void* memory, void* block);

/// Copies a dense block in file order to a part in memory order.
void from_file_order(const Group& group, const Part& part, const void* block, void* memory);

/// Copies a part of a group in memory order to its place in a global array in file order.
void place_in_global(const Group& group, const Part& part, const void* memory, void* global);

}  // namespace thalweg::bench
