// Describes the machine of the measurement.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "measurement.hpp"

namespace thalweg::bench {

/// Returns processor, memory, kernel, file system of a folder, and versions of the libraries.
nlohmann::ordered_json describe_machine(const RankGroup& rank_group, const std::string& folder);

/// Returns the date in UTC, ISO 8601.
std::string date_now();

}  // namespace thalweg::bench
