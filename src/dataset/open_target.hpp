// Creates the storage of a file on its ranks, or opens it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/**
 * Creates the file, or opens an existing one for writing.
 * @param target  storage, layout and writers that were chosen
 * @param mine    receives an error of this rank of which the other ranks do not know yet
 * @note Collective; the status is the same on every rank
 */
Status open_target(FileContext& file, Target& target, Status& mine);

}  // namespace thalweg::detail
