// Reports measurements as JSON and as tables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run.hpp"

namespace thalweg::bench {

double median(std::vector<double> values);

/// Returns the report; each row has the medians of its figures, and its times as multiples of those
/// of other rows in the same repetition.
nlohmann::ordered_json report_json(const nlohmann::ordered_json& machine, const Options& options,
                                   const Measurement& measurement, const std::string& command);

std::string report_table(const nlohmann::ordered_json& report, const Options& options);

}  // namespace thalweg::bench
