// The innermost loops: type conversion and byte order in one pass over a strided row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decomposition/index_list.hpp"
#include "index/types.hpp"

namespace thalweg::detail {

/**
 * Converts n values, which are `from_stride` and `to_stride` bytes apart.
 * @param fill         replaces values that do not fit; in the destination's type and byte order
 * @return number of values that did not fit the destination type
 */
using RowKernel = std::int64_t (*)(char* to, std::ptrdiff_t to_stride, const char* from,
                                   std::ptrdiff_t from_stride, std::int64_t n, const char* fill);

/// Returns the kernel from memory values of type `memory` to file values of type `file` in the
/// given order. Null if one type is text and the other a number.
RowKernel pack_kernel(tw_type memory, tw_type file, Order order);

/// Returns the kernel from file values in the given order to memory.
/// @param streams  the values do not fit into the caches, so long rows bypass these. Call
///                 end_streams() before other threads may see the values
RowKernel unpack_kernel(tw_type file, tw_type memory, Order order, bool streams = false);
void end_streams();

/// Returns the kernel that copies values of 1, 2, 4 or 8 bytes unchanged.
RowKernel move_kernel(std::size_t size);

/// Order of the elements of runs in an array: by index, by position in the list, or dense, one run
/// after another.
enum class RunOrder { indices, positions, dense };

/**
 * Moves the elements of runs from one array to another.
 * @param to, from  address of index 0, of position 0, or of the first dense element, according to
 *            the order
 * @return number of elements
 */
using RunsKernel = std::int64_t (*)(char* to, std::ptrdiff_t to_step, const char* from,
                                    std::ptrdiff_t from_step, std::span<const Run> runs);

/// Returns the runs kernel that does the same as a row kernel, for many short rows. Returns null if
/// the row kernel converts, or for orders that no exchange uses.
RunsKernel runs_kernel(RowKernel kernel, RunOrder to, RunOrder from);

}  // namespace thalweg::detail
