// Reports the results of index maps as JSON and as a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "irregular/measure.hpp"

namespace thalweg::bench::irregular {

nlohmann::ordered_json report_json(const nlohmann::ordered_json& machine,
                                   const IrregularOptions& options, const Measurement& measurement,
                                   const std::string& command);

std::string report_table(const nlohmann::ordered_json& report);

}  // namespace thalweg::bench::irregular
