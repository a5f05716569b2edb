// How elements that lie side by side, uncompressed, are cut into Zarr chunks: any cut along slow
// dimensions is a range of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace thalweg::detail {

struct CutLimits {
    std::int64_t most = 16 << 20;  ///< bytes of a chunk
    /// Zarr has no short chunks: where a cut does not divide a dimension, the last chunk reaches
    /// over its end. So many bytes may be read after the last element.
    std::int64_t beyond = 0;
};

/**
 * The largest chunks of at most `most` bytes that divide a dimension evenly, or else reach over its
 * end as far as allowed, if they have at least a sixteenth of that; else larger ones.
 * @param shape  elements, slowest first; all of them side by side
 * @return chunk lengths, at least 1
 */
std::vector<std::int64_t> cut(std::span<const std::int64_t> shape, std::int64_t element,
                              const CutLimits& limits);

/// The largest divisor of n that is at most `most`; 1 if most < 1. n >= 1.
std::int64_t largest_divisor(std::int64_t n, std::int64_t most);

}  // namespace thalweg::detail
