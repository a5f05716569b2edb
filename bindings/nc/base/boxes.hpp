// The boxes of limited size into which an array is cut to be copied.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "nc/base/shape.hpp"

namespace thalweg::nc {

class Boxes {
public:
    // Numbers the boxes of an array in the order of their elements. Each contains as many elements
    // as possible, at most 16 MiB.
    // @param element  size of an element in bytes
    Boxes(const Shape& shape, std::size_t element) : shape_(shape), box_(shape), parts_(shape) {
        Index inner = static_cast<Index>(element);  // bytes of a box along the faster dimensions
        for (std::size_t d = shape.size(); d-- > 0; inner *= box_[d])
            box_[d] = std::clamp<Index>(most_bytes / inner, 1, std::max<Index>(shape[d], 1));
        for (std::size_t d = 0; d < shape.size(); d++) {
            parts_[d] = (shape[d] + box_[d] - 1) / box_[d];
            number_ *= parts_[d];
        }
    }
    Index number() const { return number_; }

    // Sets start and count of a box. They are 0 if there is no box with this number.
    void get(Index number, std::vector<std::size_t>& start, std::vector<std::size_t>& count) const {
        start.assign(shape_.size(), 0);
        count.assign(shape_.size(), 0);
        if (number >= number_) return;
        for (std::size_t d = shape_.size(); d-- > 0; number /= parts_[d]) {
            const Index first = number % parts_[d] * box_[d];
            start[d] = static_cast<std::size_t>(first);
            count[d] = static_cast<std::size_t>(std::min(box_[d], shape_[d] - first));
        }
    }

private:
    static constexpr Index most_bytes = 16 << 20;
    Shape shape_, box_, parts_;
    Index number_ = 1;
};

}  // namespace thalweg::nc
