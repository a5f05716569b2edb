// Measures the cost of a run's phases, per rank and over all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "counters/counters.hpp"

namespace thalweg::scale {

class Measure {
public:
    /// Begins a phase listed in measure.cpp, and ends the one before.
    void begin(const std::string& phase);
    void end();
    /// Ends the current phase, and gives it another name.
    void end_as(const std::string& phase);
    /// Begins or ends a step, including its computing.
    void begin_step();
    void end_step();

    /// Adds the phases over all ranks to the report of rank 0: seconds and counts.
    /// @note Collective
    void add_to(nlohmann::ordered_json& report) const;

private:
    struct Phase {
        double seconds = 0;
        Counts counts{};
        std::int64_t heap = 0;  ///< peak of memory in bytes, if it is counted
    };
    void begin_heap();
    std::int64_t end_heap();

    std::map<std::string, Phase> phases_;
    std::string phase_;
    double begin_ = 0, step_begin_ = 0;
    Counts before_{};
    std::vector<double> steps_;
    /// Memory at the beginning of the phase, and its peak.
    std::int64_t heap_before_ = 0, heap_most_ = 0;
};

}  // namespace thalweg::scale
