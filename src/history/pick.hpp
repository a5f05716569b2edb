// Elements that are picked one by one: stations, and lists such as sections.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "history/part.hpp"

namespace thalweg::history {

/// Returns the pick for an array that has only some of the dimensions.
Pick restricted(const Pick& pick, const std::vector<std::string>& dims);

/// Returns the dimensions with the new one in the position of the first dimension that it replaces.
std::vector<std::string> picked_dims(const std::vector<std::string>& dims, const Pick& pick);

/// Chooses elements of a part as choose() does, for choices with picked elements. Every rank gets
/// the picked elements that it holds: boxes if it holds boxes, a list if it holds a list.
Chosen choose_picked(const Part& part, const Choice& choice);

}  // namespace thalweg::history
