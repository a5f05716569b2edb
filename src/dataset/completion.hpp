// Writes the files beside a complete file: the rest of its checksums, and its line in the manifest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"

namespace thalweg::detail {

/// Completes the checksums of a file whose data are written, but which does not have its final name
/// yet. The ranks share the work. Does nothing if the file has no checksums.
/// @note Collective
Status complete_checksums(FileContext& file);

/// Adds a line for a published file to the manifest, if the settings name one.
/// @note Collective
Status add_to_manifest(FileContext& file);

}  // namespace thalweg::detail
