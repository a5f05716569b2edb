// References (docs/zarr.md) that become wrong when a file is replaced.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace thalweg::detail {

/// The beginning of each references file that this library writes.
inline constexpr std::string_view references_begin = "{\"version\":1,\"refs\":{\n";

/// Removes the references beside a file that is about to be replaced, as they would give wrong
/// values. Files that this library has not written are kept.
void remove_references_beside(const std::string& file);

}  // namespace thalweg::detail
