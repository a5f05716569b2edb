// Integer geometry: boxes and linear ranges of a row-major index space. Knows neither MPI nor
// files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace thalweg::detail {

/// Largest number of dimensions of a variable, without its record dimension: one more than an array
/// in Fortran can have.
constexpr int max_dims = 16;

using Index = std::array<std::int64_t, max_dims>;

/// A box in an index space of nd dimensions, slowest first: indices low[d] to low[d] + count[d] -
/// 1.
struct Box {
    int nd = 0;
    Index low{};
    Index count{};

    std::int64_t volume() const;
};

/// Returns the box of a whole index space.
Box whole_box(std::span<const std::int64_t> shape);

/// Tests if a and b share elements; if so, `common` is their intersection.
bool intersect(const Box& a, const Box& b, Box& common);

/// Divides a box of at least two elements along its slowest dimension that is longer than 1. `box`
/// becomes the first half; the second half is returned. Both halves consist of as few contiguous
/// ranges as possible.
Box halve(Box& box);

/// Tests if a box is a contiguous row-major range of the index space.
bool contiguous(const Box& box, std::span<const std::int64_t> shape);

/// Returns the number of elements of an index space.
std::int64_t volume(std::span<const std::int64_t> shape);

/// Returns the row-major position of an index in a space of the given shape.
std::int64_t linear(std::span<const std::int64_t> shape, const Index& index);

/// Returns row-major strides: the distance in elements between neighbours along each dimension.
Index strides_of(std::span<const std::int64_t> shape);

namespace box_walk {
template <class Visit>
void visit_range(Box& box, std::span<const std::int64_t> shape, const Index& stride, int d,
                 std::int64_t begin, std::int64_t end, Visit& visit) {
    auto rest_whole = [&](int from) {
        for (int i = from; i < box.nd; ++i) {
            box.low[i] = 0;
            box.count[i] = shape[i];
        }
    };
    if (d == box.nd) {  // a scalar has no dimension to walk along
        visit(static_cast<const Box&>(box));
        return;
    }
    const std::int64_t row = stride[d];
    std::int64_t first = begin / row, head = begin % row;
    const std::int64_t last = end / row, tail = end % row;
    box.count[d] = 1;
    if (first == last) {
        box.low[d] = first;
        visit_range(box, shape, stride, d + 1, head, tail, visit);
        return;
    }
    if (head != 0) {
        box.low[d] = first++;
        visit_range(box, shape, stride, d + 1, head, row, visit);
    }
    if (last > first) {
        box.low[d] = first;
        box.count[d] = last - first;
        rest_whole(d + 1);
        visit(static_cast<const Box&>(box));
        box.count[d] = 1;
    }
    if (tail != 0) {
        box.low[d] = last;
        visit_range(box, shape, stride, d + 1, 0, tail, visit);
    }
}
}  // namespace box_walk

/// Calls visit(const Box&) for the boxes that together make up the row-major range [begin, end), in
/// file order. There are at most 2 nd - 1.
template <class Visit>
void for_boxes_of_range(std::span<const std::int64_t> shape, std::int64_t begin, std::int64_t end,
                        Visit&& visit) {
    if (begin >= end) return;
    Box box;
    box.nd = shape.size();
    const Index stride = strides_of(shape);
    box_walk::visit_range(box, shape, stride, 0, begin, end, visit);
}

}  // namespace thalweg::detail
