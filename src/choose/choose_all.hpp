// Makes the choices that the settings of a file leave open, the same on all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

struct ChosenAll {
    bool writers_asked = false;  ///< the setting `writers` gives their number
    bool may_change = false;     ///< service=auto may change to background once that pays off
    int free_processors = 0;     ///< free processors of a node, known if service=auto
};

/// Returns what this rank contributes to the choice by all ranks. Local.
RankResources own_resources(const FileContext& file);

/**
 * Chooses storage, method, writers and service; they become the file's options.
 * @param resources    own_resources() of all ranks, combined
 * @param asked   the options before anything was chosen
 * @param target  receives the storage, not opened yet
 * @note Collective
 */
void choose_all(FileContext& file, const RankResources& resources, const FileOptions& asked,
                Target& target, ChosenAll& chosen);

}  // namespace thalweg::detail
