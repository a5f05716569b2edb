// The runs of a box: elements side by side in the row-major order of its index space.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "index/box.hpp"

namespace thalweg::detail {

/// Step of 1 in each dimension, which selects every element of a box.
inline constexpr Index each_element = [] {
    Index step{};
    step.fill(1);
    return step;
}();

struct Runs {
    int outer = 0;  ///< number of dimensions in the outer loops over runs
    std::int64_t count = 1, length = 1;
};

/// Finds the runs of a box.
/// @param step  distance between wanted elements in each dimension; the first element is wanted
/// @param gap   largest number of unwanted elements between two wanted ones that may be part of a
///              run
Runs runs_of(const Box& box, std::span<const std::int64_t> shape, const Index& step = each_element,
             std::int64_t gap = 0);

/// Calls visit(first element) for each run of a box in order, until a call returns false.
template <class Visit>
void for_runs(const Box& box, std::span<const std::int64_t> shape, const Runs& runs,
              const Index& step, Visit&& visit) {
    Index at = box.low;
    for (std::int64_t r = 0; r < runs.count; ++r) {
        if (!visit(linear(shape, at))) return;
        for (int d = runs.outer - 1; d >= 0; --d) {
            if ((at[d] += step[d]) < box.low[d] + box.count[d]) break;
            at[d] = box.low[d];
        }
    }
}

}  // namespace thalweg::detail
