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

/// A number of a summary; 0 where it has none of that name.
double number_in(const Json& row, const char* name);
/// A text of a summary; empty where it has none of that name.
std::string text_in(const Json& row, const char* name);
/// An array or object of a summary; empty where it has none of that name.
const Json& part_in(const Json& row, const char* name);

/// Seconds of a queue's writers that cost the model's ranks nothing: their work without what the
/// ranks waited for it, for room and for the end.
double hidden_seconds(const Json& file);

std::string seconds_text(double seconds);  ///< "1.50 s", "12.3 ms"
std::string bytes_text(double bytes);      ///< "1.50 GB", "12.0 MB"
std::string share_text(double share);      ///< "12 %"

}  // namespace thalweg::detail
