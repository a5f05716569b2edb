// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::planning {

/// A way to write a step.
struct Way {
    std::string method{};
    bool own_files = false;  ///< each tile has its own file
    std::string writers{};   ///< "N" or "N/node"; ignored with servers
    int servers = 0;         ///< 0: ranks of the model write
    bool queued = false;     ///< a service writes; false: in the model's calls

    bool operator==(const Way&) const = default;
};

}  // namespace thalweg::planning
