// The writers of a layout that have something to write. A layout of large blocks may leave most of
// many writers without any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace thalweg::planning {

struct BusyWriters {
    double number = 0;      ///< of all that have something
    std::vector<int> some;  ///< of these, spread over all, ascending
    std::vector<int> few;   ///< of these, with the busiest
};

/// Found by who writes some bytes of the file.
BusyWriters busy_writers(const detail::Layout& layout, const detail::Space& space);

}  // namespace thalweg::planning
