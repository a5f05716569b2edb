// Suggests known names for a misspelt one in messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::detail {

/// Returns the first of the known names that are most similar to `name`, ignoring case; empty if
/// none is similar. Two names are similar if one begins with the other, or if at most a third of
/// the letters are wrong, missing, superfluous or swapped with their neighbour.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// Returns a suggestion for the end of a sentence, such as "; did you mean 'nc'?", or an empty
/// text.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace thalweg::detail
