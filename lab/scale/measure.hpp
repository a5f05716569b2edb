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
    /// Ends the present phase and begins the next, whose name must be listed in measure.cpp.
    void begin(const std::string& phase);
    void end();
    /// Ends the present phase and renames it.
    void end_as(const std::string& phase);
    /// Begins or ends a step, which includes the computing of the model.
    void begin_step();
    void end_step();

    /// Adds the seconds and counts of the phases, combined over all ranks, to the report on rank 0.
    /// @note Collective
    void add_to(nlohmann::ordered_json& report) const;

private:
    struct Phase {
        double seconds = 0;
        Counts counts{};
        std::int64_t heap = 0;  ///< largest memory in bytes, if memory is counted
    };
    void begin_heap();
    std::int64_t end_heap();

    std::map<std::string, Phase> phases_;
    std::string phase_;
    double begin_ = 0, step_begin_ = 0;
    Counts before_{};
    std::vector<double> steps_;
    /// Memory at the beginning of the phase, and largest memory since then.
    std::int64_t heap_before_ = 0, heap_most_ = 0;
};

}  // namespace thalweg::scale
