// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::planning {

/// How a step is written.
struct Way {
    std::string method{};
    bool own_files = false;  ///< of tiles
    std::string writers{};   ///< "N" or "N/node"; with servers it is not looked at
    int servers = 0;         ///< 0: the model's ranks write
    bool queued = false;     ///< by a service; else in the model's calls

    bool operator==(const Way&) const = default;
};

}  // namespace thalweg::planning
