// SPDX-License-Identifier: Apache-2.0
#include "zarr/cut.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

/// Returns the chunk length for a dimension of length n that is too long for one chunk. `row` is
/// the size in bytes of one index of the dimension.
std::int64_t cut_dimension(std::int64_t n, std::int64_t row, const CutLimits& limits) {
    const std::int64_t even = largest_divisor(n, limits.most / row);
    const std::int64_t least = limits.most / 16;
    if (even * row >= least) return even;
    const std::int64_t longest = std::max<std::int64_t>(1, limits.most / row);
    const std::int64_t shortest = std::max<std::int64_t>(1, least / row);
    for (std::int64_t number = (n + longest - 1) / longest; number <= n / shortest; ++number) {
        const std::int64_t uneven = (n + number - 1) / number;
        const std::int64_t over = (n + uneven - 1) / uneven * uneven - n;
        if (over <= limits.beyond / row) return uneven;
    }
    return n;
}

}  // namespace

std::vector<std::int64_t> cut(std::span<const std::int64_t> shape, std::int64_t element,
                              const CutLimits& limits) {
    std::vector<std::int64_t> chunk(shape.size(), 1);
    std::int64_t row = element;
    for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t n = std::max<std::int64_t>(1, shape[d]);
        if (n > 1 && n > limits.most / row) {
            chunk[d] = cut_dimension(n, row, limits);
            break;  // chunks have length 1 along all slower dimensions
        }
        chunk[d] = n;
        row *= n;
    }
    return chunk;
}

}  // namespace thalweg::detail
