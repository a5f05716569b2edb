// A record and its layout.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layout/layout.hpp"

namespace thalweg::planning {

/// A record as layouts see it.
struct RecordSpace {
    detail::Space space;
    std::vector<int> kinds;  ///< group of the run's variables, for each place
};

/// A layout with the node of each writer.
struct Laid {
    std::unique_ptr<detail::Layout> layout;
    std::function<int(int writer)> node_of;
};

}  // namespace thalweg::planning
