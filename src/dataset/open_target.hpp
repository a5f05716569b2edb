// Creates the storage of a file on its ranks, or opens it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/**
 * Creates the file, or opens it to be written on.
 * @param target      where its data go, as chosen
 * @param may_change  the service may go on in the background later
 * @param mine        receives a failure of this rank of which the others do not know yet
 * @note Collective; the status is the same on every rank
 */
Status open_target(FileContext& file, Target& target, bool may_change, Status& mine);

/// Writers on the node that has most. @throw std::bad_alloc
int most_writers_of_node(const FileContext& file, const Target& target);

}  // namespace thalweg::detail
