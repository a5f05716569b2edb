// What the phases of a run cost each rank, and the same over all ranks.
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
    /// A phase begins: those of measure.cpp. The one before ends.
    void begin(const std::string& phase);
    void end();
    /// Ends a phase, which turns out to have been another one.
    void end_as(const std::string& phase);
    /// Begins and ends a step, computing included.
    void begin_step();
    void end_step();

    /// The phases over all ranks: seconds and counts. On rank 0. @note Collective
    void add_to(nlohmann::ordered_json& report) const;

private:
    struct Phase {
        double seconds = 0;
        Counts counts{};
        std::int64_t heap = 0;  ///< bytes that it takes at most, where somebody counts
    };
    void begin_heap();
    std::int64_t end_heap();

    std::map<std::string, Phase> phases_;
    std::string phase_;
    double begin_ = 0, step_begin_ = 0;
    Counts before_{};
    std::vector<double> steps_;
    std::int64_t heap_before_ = 0, heap_most_ = 0;  ///< when the phase began
};

}  // namespace thalweg::scale
