// Explains the chosen settings of a file, for the summary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "choose/choose.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// Returns the settings that choose() decides; `writers` only if the user can choose it.
/// @param asked     the settings of the file before anything was chosen
/// @param appended  the file existed
/// @param choice    result of choose()
std::vector<ChosenSetting> explain(const FileOptions& asked, bool appended, Format format,
                                   const Surroundings& around, const Choice& choice);

}  // namespace thalweg::detail
