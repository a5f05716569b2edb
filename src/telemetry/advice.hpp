// What to change where something cost more than it should.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thalweg::detail {

using Json = nlohmann::json;

/// Share of the time of a run from which on something is worth advice.
constexpr double advice_share = 0.05;

/// Sentences for people, in plain text: of what took more than advice_share of the time since
/// tw_init, all files together, what it was, where it cost most, and which setting or call to
/// change. What costs most comes first.
/// @param summary  as summarize() gives it
std::vector<std::string> advice_on(const Json& summary);

}  // namespace thalweg::detail
