// The writers of a layout that have something to write. With large blocks, most of many writers may
// have nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "layout/layout.hpp"

namespace thalweg::planning {

struct BusyWriters {
    double number = 0;      ///< number of writers that own data
    std::vector<int> some;  ///< sample of these writers in ascending order
    std::vector<int> few;   ///< smaller sample, which includes the writer with most data
};

/// Finds the writers that own data, by finding the owners of sampled bytes.
BusyWriters busy_writers(const detail::Layout& layout, const detail::FileSection& space);

}  // namespace thalweg::planning
