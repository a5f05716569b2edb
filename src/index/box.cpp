// SPDX-License-Identifier: Apache-2.0
#include "index/box.hpp"

#include <algorithm>

namespace thalweg::detail {

std::int64_t Box::volume() const { return detail::volume(std::span(count.data(), nd)); }

Box whole_box(std::span<const std::int64_t> shape) {
    Box box;
    box.nd = shape.size();
    std::copy(shape.begin(), shape.end(), box.count.begin());
    return box;
}

bool intersect(const Box& a, const Box& b, Box& common) {
    common.nd = a.nd;
    for (int d = 0; d < a.nd; ++d) {
        const std::int64_t low = std::max(a.low[d], b.low[d]);
        const std::int64_t high = std::min(a.low[d] + a.count[d], b.low[d] + b.count[d]);
        if (low >= high) return false;
        common.low[d] = low;
        common.count[d] = high - low;
    }
    return true;
}

Box halve(Box& box) {
    int d = 0;
    while (box.count[d] == 1) ++d;
    Box rest = box;
    box.count[d] /= 2;
    rest.low[d] += box.count[d];
    rest.count[d] -= box.count[d];
    return rest;
}

bool contiguous(const Box& box, std::span<const std::int64_t> shape) {
    int d = 0;
    while (d < box.nd && box.count[d] == 1) ++d;
    for (++d; d < box.nd; ++d)
        if (box.count[d] != shape[d]) return false;
    return true;
}

std::int64_t volume(std::span<const std::int64_t> shape) {
    std::int64_t n = 1;
    for (std::int64_t length : shape) n *= length;
    return n;
}

std::int64_t linear(std::span<const std::int64_t> shape, const Index& index) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
    return position;
}

Index strides_of(std::span<const std::int64_t> shape) {
    Index stride{};
    std::int64_t n = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        stride[d] = n;
        n *= shape[d];
    }
    return stride;
}

}  // namespace thalweg::detail
