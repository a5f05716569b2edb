// Reports the overlap: as a table, and as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "overlap.hpp"

namespace thalweg::bench {

nlohmann::ordered_json overlap_json(const nlohmann::ordered_json& machine,
                                    const OverlapOptions& options,
                                    const OverlapMeasurement& measurement,
                                    const std::string& command);

std::string overlap_table(const nlohmann::ordered_json& report);

}  // namespace thalweg::bench
