// Writing beside a complete file: the rest of its checksums, and its line in the manifest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"

namespace thalweg::detail {

/// Completes the checksums of a file whose data are closed, but not published; the ranks share the
/// work. Does nothing if the file has no checksums.
/// @note Collective
Status complete_checksums(FileContext& file);

/// Adds a line to the manifest that the settings name, if any, for a file that is published.
/// @note Collective
Status add_to_manifest(FileContext& file);

}  // namespace thalweg::detail
