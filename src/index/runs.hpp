// The runs of a box: elements side by side in the row-major order of its index space.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "index/box.hpp"

namespace thalweg::detail {

/// Step that selects every element of a box.
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
/// @param step  from one wanted element to the next, beginning with the first
/// @param gap   largest number of unwanted elements between two wanted ones that is included in a
/// run
Runs runs_of(const Box& box, std::span<const std::int64_t> shape, const Index& step = each_element,
             std::int64_t gap = 0);

/// Calls visit(first element) for each run of a box, in order, until it returns false.
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
