// Attributes that may differ between ranks (setting attributes=first).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Replaces every rank's attributes by rank 0's: those of the file, and of the variables that rank
/// 0 has, too.
/// @param late  attributes put after the definitions ended, by the number of their variable or -1;
///              null if there can be none. Variables then have the same numbers on all ranks.
/// @note Collective
Status take_first_attributes(Team& team, Definitions& definitions,
                             std::vector<std::pair<int, Attribute>>* late);

}  // namespace thalweg::detail
