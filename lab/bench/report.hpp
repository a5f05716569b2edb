// Reports a measurement: as a table, and as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run.hpp"

namespace thalweg::bench {

/// Makes the JSON report; `machine` is the result of describe_machine() before the measurement.
nlohmann::ordered_json report_json(const nlohmann::ordered_json& machine, const Problem& problem,
                                   const Options& options, const Measurement& measurement,
                                   const std::string& command);

std::string report_table(const nlohmann::ordered_json& report);

}  // namespace thalweg::bench
