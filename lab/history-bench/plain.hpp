// The loop that histories are compared with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace history_bench {

void add_plainly(const float* values, std::int64_t n, double* sums);

}  // namespace history_bench
