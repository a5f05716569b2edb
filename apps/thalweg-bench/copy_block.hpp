// What a user does before the call of a library that knows only one order: copying a block from
// the order of the memory into that of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace thalweg::bench {

/// Row-major strides in elements.
std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape);

/// Copies a box of `count` elements between two arrays, whose strides are in elements.
void copy_block(const std::vector<std::int64_t>& count, const void* from,
                const std::vector<std::int64_t>& from_stride, void* to,
                const std::vector<std::int64_t>& to_stride, std::int64_t bytes_per_element);

/// A part of a group in memory order -> a dense block in file order.
void to_file_order(const Group& group, const Part& part, const void* memory, void* block);

/// The reverse.
void from_file_order(const Group& group, const Part& part, const void* block, void* memory);

/// A part of a group in memory order -> its place in a global array in file order.
void place_in_global(const Group& group, const Part& part, const void* memory, void* global);

}  // namespace thalweg::bench
