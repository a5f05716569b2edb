// Another method and other writers for a file in the middle of it. Its bytes are the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

/**
 * At the end of a step of a file with service inline: what follows is written as proposed. Where
 * that cannot be (no memory, or the file has another name by now), it goes on as before.
 * @param writers_asked  see choose_layout()
 * @return whether it is written so; the same on every rank. @note Collective
 */
bool change_way(FileContext& file, const planning::Proposal& proposal, bool writers_asked,
                Target& target, Service& service);

}  // namespace thalweg::detail
