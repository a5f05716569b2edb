// What the settings of a file came to, and why: for the summary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "choose/choose.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// The settings that choose() settles; `writers` only where it has a say.
/// @param asked     the settings of the file, before anything was chosen
/// @param appended  the file was there
/// @param choice    what choose() made of them
std::vector<ChosenSetting> explain(const FileOptions& asked, bool appended, Format format,
                                   const Surroundings& around, const Choice& choice);

}  // namespace thalweg::detail
