// The facts of a file for people and for programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "show/facts.hpp"
#include "show/statistics.hpp"

namespace thalweg::app {

/// Formats the facts for people.
/// @param statistics  statistics of each variable; empty if not requested
std::string text_of(const FileFacts& facts, const std::vector<Statistics>& statistics);
std::string json_of(const FileFacts& facts, const std::vector<Statistics>& statistics);

}  // namespace thalweg::app
