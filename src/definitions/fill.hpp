// The fill value that a variable is given by tw_set_var.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// A value of a type from its text: an integer, a floating-point number (1e30, nan, inf), or one
/// character, in quotes or not.
/// @return TW_OK, TW_ESETTING with what the text can be
Status parse_fill(const std::string& text, tw_type type, FillValue& value);

/// Makes the variable's fill value of its setting `fill`; without it nothing changes.
/// @return TW_OK, TW_ESETTING
Status choose_fill(Variable& variable);

/// Whether an attribute, if it is _FillValue, is the same as the setting `fill`, if there is one.
/// @return TW_OK, TW_ESETTING
Status check_fill(const Variable& variable, const Attribute& attribute);

}  // namespace thalweg::detail
