// The tags of the lists in a classic header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

inline constexpr std::int64_t dimension_tag = 10, variable_tag = 11, attribute_tag = 12;

}  // namespace thalweg::detail
