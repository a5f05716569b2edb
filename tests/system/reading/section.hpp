// Random sections of an array.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "system/random.hpp"

struct Section {
    std::vector<std::int64_t> start, count, stride;
    std::int64_t n = 1;

    Section(const std::vector<std::int64_t>& shape, Random& own) {
        const bool strides = own.percent(60);
        const bool one = own.percent(15);  // a single index along most dimensions
        for (const std::int64_t length : shape) {
            const std::int64_t first = own.below(length);
            const std::int64_t step =
                strides ? own.between(1, own.percent(20) ? length + 2 : 3) : 1;
            const std::int64_t most = (length - 1 - first) / step + 1;
            start.push_back(first);
            stride.push_back(step);
            count.push_back(one && own.percent(80) ? 1
                            : own.percent(60)      ? most
                                                   : own.between(1, most));
            if (own.percent(3)) {
                count.back() = 0;
                if (own.percent(50)) start.back() = length;
            }
            n *= count.back();
        }
    }
};
