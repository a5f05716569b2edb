// What is written, and who writes what of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layout/layout.hpp"

namespace thalweg::planning {

/// A record as the layouts see it.
struct RecordSpace {
    detail::Space space;
    std::vector<int> kinds;  ///< of each place: which group of the run's variables it is of
};

/// A layout, and the node of each of its writers.
struct Laid {
    std::unique_ptr<detail::Layout> layout;
    std::function<int(int writer)> node_of;
};

}  // namespace thalweg::planning
