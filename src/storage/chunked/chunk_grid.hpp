// How a variable of a netCDF-4 file is cut into chunks, and what of it a writer needs to have
// whole.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// All shapes and positions are those of one record, or of a fixed-size variable. Chunks of files
/// that other programs have made may hold several records: in each, the grid is the same.
struct ChunkGrid {
    std::vector<std::int64_t> shape;   ///< of the variable, elements
    std::vector<std::int64_t> chunk;   ///< elements
    std::vector<std::int64_t> number;  ///< chunks along each dimension
    std::int64_t element = 1;          ///< bytes
    std::int64_t records = 1;          ///< that a chunk holds
    bool chunked = false;              ///< else the variable lies in the file as one range
    /// Every chunk is a range of the variable in file order, and follows the one before.
    bool in_order = true;
    /// Elements of a band (of one record): chunks that together are a range in file order. The last
    /// band may be shorter.
    std::int64_t band = 1;

    std::int64_t chunks() const { return volume(number); }
    std::int64_t elements() const { return volume(shape); }
    /// Elements past the variable's edges, which chunks there hold too, included.
    std::int64_t chunk_elements() const { return volume(chunk); }
    /// Of all its records.
    std::int64_t chunk_bytes() const { return records * chunk_elements() * element; }
    std::int64_t chunks_a_band() const { return chunks() / ((elements() + band - 1) / band); }
    std::int64_t elements_of(std::int64_t band_number) const {
        return std::min(band, elements() - band_number * band);
    }
    /// Of those that are in one chunk.
    std::int64_t first_record(std::int64_t record) const { return record / records * records; }
    /// What all chunks take, unfiltered.
    std::int64_t bytes() const { return chunked ? chunks() * chunk_bytes() : elements() * element; }
    /// Position of a chunk's first element. Chunks are numbered in row-major order.
    Index corner(std::int64_t chunk_number) const;
};

/**
 * Where nothing is wished: the longest ranges in file order of at most `target` bytes; more only
 * where ranges that divide the variable evenly would be much shorter. A fixed-size variable without
 * filters is not chunked.
 */
ChunkGrid choose_grid(const Variable& variable, std::int64_t target);

/// The one that a file has. @param chunk  of all dimensions; empty: it is not chunked
ChunkGrid grid_of(const Variable& variable, std::span<const std::int64_t> chunk);

/// Copies a box of elements of which the fastest dimension lies dense on both sides.
/// @param from  first element; strides in elements
void copy_rows(int nd, const Index& count, std::int64_t element, const char* from,
               const Index& from_stride, char* to, const Index& to_stride);

/// Whether some variables are filtered, or cut as was wished, or as a file has them: then chunks
/// are written whole, and where there is room, not where an element's place was known before.
bool needs_whole_chunks(const Definitions& definitions);

}  // namespace thalweg::detail
