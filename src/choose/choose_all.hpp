// Makes the choices that the settings of a file leave open, the same on all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

/// Returns this rank's contribution to the choices. Local.
RankResources own_resources(const FileContext& file);

/**
 * Chooses storage, method, writers and service, and stores them in the file's options.
 * @param resources    own_resources() of all ranks, combined
 * @param asked   the options before anything was chosen
 * @param target  receives the storage, not opened yet
 */
Choice choose_all(FileContext& file, const RankResources& resources, const FileOptions& asked,
                  Target& target);

/// Sets the layout and the writers of a file whose other options are chosen.
/// @param writers_asked  the user has set the number of writers
/// @param existing       division of an existing set of files; null: there is none
/// @return the same on every rank
/// @note Collective
Status choose_layout(const FileContext& file, bool writers_asked, const Grid* existing,
                     Target& target);

}  // namespace thalweg::detail
