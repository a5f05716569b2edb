// A variable cut into boxes that ranks take in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "thalweg/thalweg.hpp"

namespace thalweg::app {

/// Divides an array into boxes of at most about `most` elements, in row-major order. Boxes are as
/// long as possible along the fastest dimensions, so that each consists of few contiguous ranges of
/// a file.
class Blocks {
public:
    /// @param grain  lengths, such as those of a chunk, by which boxes are divided along each
    ///               dimension; empty: single elements. A grain of more than `most` elements is
    ///               itself divided, along its slowest dimensions.
    Blocks(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& grain,
           std::int64_t most);

    std::int64_t count() const { return count_; }
    Block block(std::int64_t number) const;

private:
    std::vector<std::int64_t> shape_, length_;  ///< extents of the array, and of a block
    std::int64_t count_ = 1;
};

}  // namespace thalweg::app
