// Advice on settings and calls that cost more time than they should.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thalweg::detail {

using Json = nlohmann::json;

/// Fraction of the run's time below which a cost gets no advice.
constexpr double advice_share = 0.05;

/// Returns sentences in plain text, beginning with the largest cost. Each describes a kind of cost
/// that takes more than advice_share of the time since tw_init, summed over all files: the file on
/// which it is highest, and the setting or call to change.
/// @param summary  result of summarize()
std::vector<std::string> advice_on(const Json& summary);

}  // namespace thalweg::detail
