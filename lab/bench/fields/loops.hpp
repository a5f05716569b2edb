// Loops over elements, which are compiled with the highest optimisation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "fields/problem.hpp"

namespace thalweg::bench {

/// Copies a part of a group in memory order to a dense block in file order, as a user must for a
/// library that knows only one order.
void to_file_order(const Group& group, const Part& part, const void* memory, void* block);

/// Copies a dense block in file order to a part in memory order.
void from_file_order(const Group& group, const Part& part, const void* block, void* memory);

/// Copies a part of a group in memory order to its place in a global array in file order.
void place_in_global(const Group& group, const Part& part, const void* memory, void* global);

/// Copies this rank's elements by the library's own code, in file order and the file's byte order.
/// Lists and halos stay in memory order.
void pack(const Group& group, const void* memory, char* to);

/// Smooths a ring of numbers that fits in the first-level cache. It keeps the floating-point units
/// busy, but not the memory, which other processes share.
void compute_arithmetic(std::int64_t rounds);

/// Adds floats to sums: the loop that histories are compared with.
void add_plainly(const float* values, std::int64_t n, double* sums);

/// Interpolates to levels of a coordinate that increases, as models do: for each of `wanted`, in a
/// loop over levels and columns. Adds the results to sums.
/// @param coordinate, values  of each column, for each of `levels`
void interpolate_plainly(const float* coordinate, const float* values, std::int64_t levels,
                         std::int64_t columns, std::span<const float> wanted, double* sums);

/// Multiplies a sparse matrix by a vector: the loop that maps are compared with.
/// @param begin  for each row, the first of its links; then their number
void map_plainly(std::span<const std::int64_t> begin, const std::int32_t* columns,
                 const double* weights, const double* from, double* to);

}  // namespace thalweg::bench
