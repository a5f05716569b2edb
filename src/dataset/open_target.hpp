// The ranks create the storage of a file, or open it; who of them writes.
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

/// The first writer of each node looks whether the file there is the one that was claimed.
/// @note Collective; the status is the same on every rank
Status check_shared(const FileContext& file, const Target& target);

/// Whether this rank writes.
bool is_writer(const FileContext& file, const Target& target);
/// Of the node that has most. @throw std::bad_alloc
int most_writers_of_node(const FileContext& file, const Target& target);
/// Most bytes a second of a writer, so that none has to ask the others; 0: no limit.
double rate_of(const FileContext& file, const Target& target);

}  // namespace thalweg::detail
