// Cuts contiguous uncompressed elements into Zarr chunks: any cut along slow dimensions is a range
// of the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/chunked/chunk_grid.hpp"

namespace thalweg::detail {

struct CutLimits {
    std::int64_t most = 16 << 20;  ///< largest size of a chunk in bytes
    /// Number of bytes by which the last chunk may reach beyond the last element. All chunks in
    /// Zarr have the same size, so the last one reaches beyond the end of a dimension whose length
    /// is no multiple of the chunk length.
    std::int64_t beyond = 0;
};

/**
 * Chooses the largest chunks of at most `most` bytes that divide a dimension evenly or, failing
 * that, reach beyond its end as far as allowed. If such chunks are smaller than a sixteenth of
 * `most`, chooses larger ones that do not meet these conditions.
 * @param shape  lengths in elements, slowest dimension first; the elements are contiguous in the
 *               file
 * @return chunk lengths, at least 1
 */
std::vector<std::int64_t> cut(std::span<const std::int64_t> shape, std::int64_t element,
                              const CutLimits& limits);

}  // namespace thalweg::detail
