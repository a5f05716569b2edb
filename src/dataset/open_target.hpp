// The ranks create the storage of a file, or open it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/**
 * Creates the file, or opens it to be written on.
 * @param target      where its data go, as chosen
 * @param may_change  the service may go on in the background later
 * @note Collective; the status is the same on every rank
 */
Status open_target(FileContext& file, Target& target, bool may_change);

}  // namespace thalweg::detail
