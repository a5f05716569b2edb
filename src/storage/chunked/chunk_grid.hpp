// The division of a variable of a netCDF-4 file into chunks, and into bands of them, which one
// writer writes whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// The chunks of a variable. Shapes and positions leave out the record dimension. A chunk may hold
/// several records; the grid is the same in each of them.
struct ChunkGrid {
    std::vector<std::int64_t> shape;   ///< elements of the variable
    std::vector<std::int64_t> chunk;   ///< elements of a chunk
    std::vector<std::int64_t> number;  ///< chunks along each dimension
    std::int64_t element = 1;          ///< bytes of one element
    std::int64_t records = 1;          ///< records in a chunk
    bool chunked = false;              ///< false: the variable is stored as one range of the file
    /// True if each chunk is a contiguous range of the variable in file order and begins where the
    /// chunk before it ends.
    bool in_order = true;
    /// Number of elements in a band, in one record. A band is the smallest group of chunks that
    /// together are a contiguous range of the variable in file order. The last band may be shorter.
    std::int64_t band = 1;

    std::int64_t chunks() const { return volume(number); }
    std::int64_t elements() const { return volume(shape); }
    /// Returns the number of elements in a chunk (in one record), including those past the
    /// variable's edges.
    std::int64_t chunk_elements() const { return volume(chunk); }
    /// Returns the bytes of a chunk with all records that it holds.
    std::int64_t chunk_bytes() const { return records * chunk_elements() * element; }
    std::int64_t chunks_a_band() const { return chunks() / ((elements() + band - 1) / band); }
    std::int64_t elements_of(std::int64_t band_number) const {
        return std::min(band, elements() - band_number * band);
    }
    /// Returns the first record in the chunk that holds `record`.
    std::int64_t first_record(std::int64_t record) const { return record / records * records; }
    /// Returns the size in bytes of all chunks before they are filtered.
    std::int64_t bytes() const { return chunked ? chunks() * chunk_bytes() : elements() * element; }
    /// Returns the position of a chunk's first element. Chunks are numbered in row-major order.
    Index corner(std::int64_t chunk_number) const;
};

/// Returns the target size of the chunks of a new file in bytes. Filtered chunks are smaller, so
/// that each writer has some, and readers need not decompress much for a few elements.
/// @param packed   chunks are filtered
/// @param writers  number of ranks that write
std::int64_t chunk_target(const Definitions& definitions, bool packed, std::int64_t writers);

/// Returns the lengths of the longest contiguous range of a variable of at most `target` bytes, or
/// of a longer one where those that divide the variable evenly are much shorter.
/// @param even  divides the slowest dimension evenly, too
std::vector<std::int64_t> range_of(const std::vector<std::int64_t>& shape, std::int64_t element,
                                   std::int64_t target, bool even = false);

/**
 * Chooses the chunks of a new variable. Unless their lengths were requested, each chunk is a
 * range of at most `target` bytes, see range_of(). A fixed-size variable without filters is not
 * chunked. A chunk holds one record, except in a file that is laid out for CMIP7.
 */
ChunkGrid choose_grid(const Variable& variable, std::int64_t target);

/// Returns the grid of a variable in a file.
/// @param chunk  chunk length in each dimension; empty if the variable is not chunked
ChunkGrid grid_of(const Variable& variable, std::span<const std::int64_t> chunk);

/// Returns the largest divisor of n that is at most `most`; 1 if most < 1. n >= 1.
std::int64_t largest_divisor(std::int64_t n, std::int64_t most);

/// Sets elements to a value.
void fill_with(const FillValue& value, std::int64_t element, char* to, std::int64_t elements);

/// Tests if elements, at least one, all have a value.
bool are_all(const FillValue& value, std::int64_t element, const char* elements,
             std::int64_t bytes);

/// Copies a box of elements whose fastest dimension is contiguous on both sides.
/// @param from, to                first elements
/// @param from_stride, to_stride  distance between neighbours in each dimension, in elements
void copy_rows(int nd, const Index& count, std::int64_t element, const char* from,
               const Index& from_stride, char* to, const Index& to_stride);

/// Tests if a file must be written in whole chunks: some variable is filtered, or has chunk lengths
/// that were requested or come from an existing file, or `packing` is set. Each chunk is then
/// stored wherever there is space; otherwise the offset of each element is known beforehand.
bool needs_whole_chunks(const Definitions& definitions);

}  // namespace thalweg::detail
