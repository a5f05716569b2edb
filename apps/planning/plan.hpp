// What each method and service would cost a run, which is best, and how many servers pay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planning/run.hpp"
#include "planning/shares.hpp"

namespace thalweg::planning {

/// A way to write, and what it costs.
struct Option {
    std::string service;
    Way way;
    std::string writers;  ///< the setting, where another number than the library's own is better
    Work work;
    Cost cost;
    Outcome outcome;
    MemoryUse memory;
    bool slow_disk = false;  ///< the disk takes longer than memory, and decides
    bool fits = true;        ///< into a node's memory
    double seconds = 0;      ///< of the run
    double share = 0;        ///< of the run, that output takes
    std::string why;         ///< it is not the best; empty: it is

    std::string method() const { return way.method + (way.own_files ? ", own files" : ""); }
    /// The settings by which the library does so: names and values.
    std::vector<std::pair<std::string, std::string>> settings() const;
};

struct Plan {
    std::vector<Option> options;  ///< fastest first
    std::size_t best = 0;
    /// Option of method record by number of servers, ascending; and the number that is best.
    std::vector<Option> servers;
    std::size_t best_servers = 0;
    double without_servers = 0;  ///< seconds of the run with the best other service
    bool servers_pay = false;
    Work reading;  ///< of an output, read back in the same decomposition
    double read_seconds = 0;
};

/// @param shares  of the same run
Plan make_plan(const Run& run, const Shares& shares);

/// "49.6 MB".
std::string bytes_of(double bytes);

}  // namespace thalweg::planning
