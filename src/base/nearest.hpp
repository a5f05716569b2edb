// Suggests known names for a misspelt one in messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::detail {

/// Returns the known name that is most similar to this one, ignoring case; the first of several.
/// Empty if none is similar: one begins with the other, or at most a third of the letters are
/// wrong, missing, superfluous or swapped with their neighbour.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// Returns "; did you mean 'nc'?" for the end of a sentence, or an empty text.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace thalweg::detail
