// Compares the files of a set that is read as one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/source.hpp"

namespace thalweg::detail {

/**
 * Compares the files of a set of tiles, as Source::check_files() does. Does not compare a set that
 * is still being written, as some of its files may be ahead of others.
 * @param path  path of the set
 * @note Collective; the same status on every rank
 */
Status check_set(Comm& comm, Source& set, const std::string& path, bool common_records);

}  // namespace thalweg::detail
