// Cuts contiguous uncompressed elements into Zarr chunks: any cut along slow dimensions is a range
// of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace thalweg::detail {

struct CutLimits {
    std::int64_t most = 16 << 20;  ///< bytes of a chunk
    /// Bytes that may be read after the last element: Zarr has no short chunks, so the last one
    /// reaches over the end of a dimension that is not a multiple of the chunk length.
    std::int64_t beyond = 0;
};

/**
 * Chooses the largest chunks of at most `most` bytes that divide a dimension evenly or, failing
 * that, reach over its end as far as allowed, if they have at least a sixteenth of `most`; else
 * larger ones.
 * @param shape  elements, slowest first, contiguous in the file
 * @return chunk lengths, at least 1
 */
std::vector<std::int64_t> cut(std::span<const std::int64_t> shape, std::int64_t element,
                              const CutLimits& limits);

/// Returns the largest divisor of n that is at most `most`; 1 if most < 1. n >= 1.
std::int64_t largest_divisor(std::int64_t n, std::int64_t most);

}  // namespace thalweg::detail
