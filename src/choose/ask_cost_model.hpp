// What the cost model proposes for a file, and what the steps of files have taken: one rank knows
// it, and all hear of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose.hpp"
#include "service/file_context.hpp"

namespace thalweg::detail {

/// When the definitions end.
/// @param around  receives the proposal and what it needs
/// @note Collective; the status is the same on every rank
Status ask_cost_model(const FileContext& file, Surroundings& around);

/// In the middle of a file: what is proposed now, by what its steps have taken.
/// @param what      how it is written so far
/// @param can       whether this rank's part could be written otherwise
/// @param proposal  receives the way, where it is another one and all ranks can
/// @return whether it is. @note Collective
bool ask_again(const FileContext& file, const planning::Proposed& what, bool can,
               planning::Proposal& proposal);

}  // namespace thalweg::detail
