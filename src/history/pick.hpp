// Elements that are picked one by one: stations, and lists such as sections.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "history/part.hpp"

namespace thalweg::history {

/// Returns the pick of an array that has some of the dimensions.
Pick restricted(const Pick& pick, const std::vector<std::string>& dims);

/// Returns dimensions with the new one in place of the first that it replaces.
std::vector<std::string> picked_dims(const std::vector<std::string>& dims, const Pick& pick);

/// Chooses elements of a part as choose() does, if some are picked. Every rank gets those that it
/// holds: boxes of boxes, a list of a list.
Chosen choose_picked(const Part& part, const Choice& choice);

}  // namespace thalweg::history
