// Requests of a restart to a reader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "restart/file_checksums.hpp"

namespace thalweg::detail {

/// What a read has to bring for one array, and whether there is a checksum to compare. Nothing if
/// the file may lack the variable and does. Local.
/// @param definitions  those that `own` is of
Status ask_for(const Source& source, const std::string& path, const Definitions& definitions,
               const Variable& own, const Wording& wording, RegisteredArray& array, Wish& wish,
               std::vector<ExpectedChecksum>& checks);

}  // namespace thalweg::detail
