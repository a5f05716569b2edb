// Who writes what of a file: its layout and its writers, chosen when the definitions end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/// Sets the layout and the writers of a file whose options are chosen.
/// @param writers_asked  their number is as asked for
/// @param existing       how a set of files is cut that is there; null: it is not
/// @return the same on every rank. @note Collective
Status choose_layout(const FileContext& file, bool writers_asked, const Grid* existing,
                     Target& target);

}  // namespace thalweg::detail
