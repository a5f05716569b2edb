// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::planning {

/// A way to write a step: method, storage and service.
struct Way {
    std::string method{};
    bool own_files = false;  ///< each tile is a separate file
    std::string writers{};   ///< "N" or "N/node"; ignored with servers
    int servers = 0;         ///< number of servers; 0: ranks of the model write
    bool queued = false;     ///< true: a service writes; false: the model's calls write

    bool operator==(const Way&) const = default;
};

}  // namespace thalweg::planning
