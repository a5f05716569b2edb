// What a name that nobody knows was probably meant to be, for the texts of failures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::detail {

/// The known name that is most like this one, whatever the case of its letters; empty if none is
/// much alike: one begins with the other, or no more than a third of the letters are wrong,
/// missing, superfluous or swapped with their neighbour. Of several the first.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// "; did you mean 'nc'?" for the end of a sentence, or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace thalweg::detail
