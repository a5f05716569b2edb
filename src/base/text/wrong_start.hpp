// Describes starts that lie before the first index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/text/index_convention.hpp"

namespace thalweg::detail {

/// Describes a start, counted from 0, that lies before the first index.
inline std::string wrong_start(const IndexConvention& wording, std::int64_t from_0) {
    return "start " + std::to_string(wording.index(from_0)) +
           (wording.fortran ? ": in Fortran, starts count from 1" : " is negative");
}

}  // namespace thalweg::detail
