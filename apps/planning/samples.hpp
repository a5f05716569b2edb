// Which ones of many are looked at.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::planning {

/// The i-th of n that are spread over `all`, with the first and the last.
std::int64_t sample(std::int64_t i, std::int64_t n, std::int64_t all);

/// The same without a regular distance, which may be that of levels in the file.
std::int64_t irregular_sample(std::int64_t i, std::int64_t n, std::int64_t all);

}  // namespace thalweg::planning
