// SPDX-License-Identifier: Apache-2.0
#include "index/runs.hpp"

namespace thalweg::detail {

Runs runs_of(const Box& box, std::span<const std::int64_t> shape, const Index& step,
             std::int64_t gap) {
    if (box.volume() == 0) return {box.nd, 0, 0};
    const Index stride = strides_of(shape);
    Runs runs{box.nd};
    for (; runs.outer > 0; --runs.outer) {
        const int d = runs.outer - 1;
        const std::int64_t last = (box.count[d] - 1) / step[d];
        if (last > 0 && step[d] * stride[d] - runs.length > gap) break;
        runs.length += last * step[d] * stride[d];
    }
    for (int d = 0; d < runs.outer; ++d) runs.count *= (box.count[d] - 1) / step[d] + 1;
    return runs;
}

}  // namespace thalweg::detail
