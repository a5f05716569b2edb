// Measures reading behind computing: a model that takes record after record of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute.hpp"
#include "options.hpp"

namespace thalweg::bench {

struct PrefetchOptions {
    Options base;
    std::vector<std::string> ways;
    std::vector<Computing> computing;
    double proportion = 1;  ///< seconds of computing in a step, divided by those of reading inline
};

/// Parses "thalweg-bench prefetch ...". Throws UsageError.
Parsed parse_prefetch_options(int argc, char** argv, PrefetchOptions& options, std::string& text);

/// Measures and returns the report, with "ratio_to_no_input" in its rows.
/// @note Collective
nlohmann::ordered_json measure_prefetch(const RankGroup& rank_group, const PrefetchOptions& options,
                                        const nlohmann::ordered_json& machine,
                                        const std::string& command, bool& good);

std::string prefetch_table(const nlohmann::ordered_json& report);

}  // namespace thalweg::bench
