// Predicts the cost of each method and service for a run, the best option, and how many servers pay
// off.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/run.hpp"
#include "plan/shares/shares.hpp"

namespace thalweg::planning {

/// A way to write, with its predicted cost.
struct Option {
    std::string service;
    Way way;
    /// Value of the setting "writers" if another number than the library's own is better; otherwise
    /// empty.
    std::string writers;
    Work work;
    Cost cost;
    Outcome outcome;
    MemoryUse memory;
    bool slow_disk = false;  ///< the disk is slower than memory and determines the time
    bool fits = true;        ///< the memory of a node suffices
    double seconds = 0;      ///< seconds of the whole run
    double share = 0;        ///< fraction of the run's time that output takes
    std::string why;         ///< reason why another option is better; empty for the best option

    std::string method() const { return way.method + (way.own_files ? ", own files" : ""); }
    /// Returns the names and values of the settings that select this option.
    std::vector<std::pair<std::string, std::string>> settings() const;
};

struct Plan {
    std::vector<Option> options;  ///< fastest first
    std::size_t best = 0;
    /// The options of method `record` with servers, by number of servers, and the index of the best
    /// of them.
    std::vector<Option> servers;
    std::size_t best_servers = 0;
    double without_servers = 0;  ///< seconds of the run with the best option without servers
    bool servers_pay = false;
    Work reading;  ///< work of reading the output back with the same decomposition
    double read_seconds = 0;
};

/// @param shares  shares that were made for the same run
Plan make_plan(const Run& run, const Shares& shares);

/// Formats a size, for example "49.6 MB".
std::string bytes_of(double bytes);

}  // namespace thalweg::planning
