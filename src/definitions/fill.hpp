// The fill value of a variable that is set by tw_set_var.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Sets the variable's fill value from its setting `fill`, if there is one.
/// @return TW_OK, TW_ESETTING
Status choose_fill(Variable& variable);

/// Tests if the variable has no fill value ("fill=none").
bool has_no_fill(const Variable& variable);

/// Tests if what is never put stays a hole: of fixed-size variables without chunks ("fill=none").
bool stays_hole(const Variable& variable);

/// If the attribute is _FillValue, checks that it agrees with the setting `fill`.
/// @return TW_OK, TW_ESETTING
Status check_fill(const Variable& variable, const Attribute& attribute);

}  // namespace thalweg::detail
