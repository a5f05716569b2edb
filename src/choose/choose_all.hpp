// Makes the choices that the settings of a file leave open, the same on all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

struct ChosenAll {
    bool writers_asked = false;  ///< by the setting `writers`
    bool may_change = false;     ///< with service=auto: to background, once that pays off
    int free_processors = 0;     ///< free processors of a node, known if service=auto
};

/// The slowest rank's of all that costs time, and of what the model does meanwhile the fastest
/// one's.
/// @note Collective
OutputTimes agree_on(Team& team, const OutputTimes& mine);

/**
 * Chooses storage, method, writers and service; they become the file's options.
 * @param asked   the options before anything was chosen
 * @param target  gets the storage, not opened yet
 * @note Collective; the status is the same on every rank
 */
Status choose_all(FileContext& file, const FileOptions& asked, Target& target, ChosenAll& chosen);

}  // namespace thalweg::detail
