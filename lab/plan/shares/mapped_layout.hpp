// A record and its layout.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layout/layout.hpp"

namespace thalweg::planning {

/// One record of all variables, in the form that layouts require.
struct RecordSpace {
    detail::FileSection space;
    std::vector<int> kinds;  ///< number of each place's group of variables (RunVariables)
};

/// A layout, and the node of each writer.
struct MappedLayout {
    std::unique_ptr<detail::Layout> layout;
    std::function<int(int writer)> node_of;
};

}  // namespace thalweg::planning
