// What the measurement ran on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "measurement.hpp"

namespace thalweg::bench {

/// Processor, memory, kernel, file system of a folder, versions of the libraries.
nlohmann::ordered_json describe_machine(const Meeting& meeting, const std::string& folder);

/// UTC, ISO 8601.
std::string date_now();

}  // namespace thalweg::bench
