// Lengths and indices along the dimensions of an array.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thalweg::nc {

using Index = std::int64_t;
using Shape = std::vector<Index>;

inline Index volume(const Shape& shape, std::size_t from = 0) {
    Index product = 1;
    for (std::size_t i = from; i < shape.size(); i++) product *= shape[i];
    return product;
}

// A section of a variable. An empty stride means 1 along all dimensions.
struct Section {
    Shape start, count, stride;
    const Index* steps() const { return stride.empty() ? nullptr : stride.data(); }
};

}  // namespace thalweg::nc
