// Creates the storage of a file on its ranks, or opens it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/service.hpp"

namespace thalweg::detail {

/**
 * Creates the file, or opens an existing one for writing.
 * @param target      destination of its data, as chosen
 * @param may_change  the service may change to background later
 * @param mine        receives a failure of this rank of which the others do not know yet
 * @note Collective; the status is the same on every rank
 */
Status open_target(FileContext& file, Target& target, bool may_change, Status& mine);

/// Returns the number of writers on the node that has most. @throw std::bad_alloc
int most_writers_of_node(const FileContext& file, const Target& target);

}  // namespace thalweg::detail
