// What the settings leave open for a file: asked and chosen by all ranks alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

struct ChosenAll {
    bool writers_asked = false;  ///< by the setting `writers`
    bool may_change = false;     ///< service=auto: to background, once that pays
    int free_processors = 0;     ///< of a node, with service=auto
};

/// Returns the words of this rank, before the ranks choose. Local.
ToldOfRoom tell_of_room(const FileContext& file);

/**
 * Chooses storage, method, writers and service; they become the file's options.
 * @param told    by all ranks
 * @param asked   the options before anything was chosen
 * @param target  gets the storage, not opened yet
 * @note Collective
 */
void choose_all(FileContext& file, const ToldOfRoom& told, const FileOptions& asked, Target& target,
                ChosenAll& chosen);

}  // namespace thalweg::detail
