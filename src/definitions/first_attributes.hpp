// Attributes that may differ between ranks (setting attributes=first).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Replaces the attributes of every rank by those of rank 0: the attributes of the file, and those
/// of all variables that rank 0 also has.
/// @param late  attributes that were put after define mode, when variables have the same numbers on
///              all ranks; null in define mode
/// @note Collective
Status take_first_attributes(Team& team, Definitions& definitions, LateAttributes* late);

}  // namespace thalweg::detail
