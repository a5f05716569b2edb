// SPDX-License-Identifier: Apache-2.0
#include "blocks.hpp"

#include <algorithm>

namespace thalweg::app {

Blocks::Blocks(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& grain,
               std::int64_t most)
    : shape_(std::move(shape)), length_(shape_.size(), 1) {
    const std::size_t nd = shape_.size();
    std::int64_t volume = 1;
    for (std::size_t d = 0; d < nd; ++d) {
        if (shape_[d] == 0) {
            count_ = 0;
            return;
        }
        if (d < grain.size()) length_[d] = std::clamp<std::int64_t>(grain[d], 1, shape_[d]);
        volume *= length_[d];
    }
    for (std::size_t d = 0; d < nd && volume > most; ++d) {
        volume /= length_[d];
        length_[d] = std::max<std::int64_t>(1, most / volume);
        volume *= length_[d];
    }
    for (std::size_t d = nd; d-- > 0;) {
        const std::int64_t times = std::max<std::int64_t>(1, most / volume);
        volume /= length_[d];
        length_[d] = std::min(times * length_[d], shape_[d]);
        volume *= length_[d];
        if (length_[d] < shape_[d]) break;
    }
    for (std::size_t d = 0; d < nd; ++d) count_ *= (shape_[d] + length_[d] - 1) / length_[d];
}

Block Blocks::block(std::int64_t number) const {
    Block block{std::vector<std::int64_t>(shape_.size()), std::vector<std::int64_t>(shape_.size())};
    for (std::size_t d = shape_.size(); d-- > 0;) {
        const std::int64_t blocks = (shape_[d] + length_[d] - 1) / length_[d];
        block.start[d] = number % blocks * length_[d];
        block.count[d] = std::min(length_[d], shape_[d] - block.start[d]);
        number /= blocks;
    }
    return block;
}

}  // namespace thalweg::app
