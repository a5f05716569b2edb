// Explains the chosen settings of a file, for the summary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "choose/choose.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// Returns the settings on which choose() has decided, with their values and reasons. `writers` is
/// included only if the user could choose it.
/// @param asked     settings as the user has set them
/// @param appended  the file existed before
/// @param choice    result of choose()
std::vector<ChosenSetting> explain(const FileOptions& asked, bool appended, Format format,
                                   const Surroundings& around, const Choice& choice);

}  // namespace thalweg::detail
