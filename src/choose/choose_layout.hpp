// Chooses a file's layout and writers when its definitions end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/// Sets the layout and the writers of a file whose other options are chosen.
/// @param writers_asked  the user has set the number of writers
/// @param existing       division of an existing set of files; null: there is none
/// @return the same on every rank
/// @note Collective
Status choose_layout(const FileContext& file, bool writers_asked, const Grid* existing,
                     Target& target);

}  // namespace thalweg::detail
