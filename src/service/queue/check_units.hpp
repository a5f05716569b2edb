// Checks that the unit parts of one unit result from the same calls on every rank.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/status.hpp"
#include "base/wording.hpp"
#include "service/queue/unit_part.hpp"

namespace thalweg::detail {

/// @param unit_parts  one per rank, at least one
/// @param path     path of the file, for messages
/// @return TW_OK, TW_EMISMATCH (different calls, or arrays of different forms), TW_EMISSING (a
///     variable that some ranks did not put)
Status check_units(std::span<const UnitPart> unit_parts, std::span<const Variable> variables,
                   const std::string& path, const Wording& wording);

}  // namespace thalweg::detail
