// Decides by the outputs of a run so far whether it pays to write in the background.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "telemetry/output_times.hpp"

namespace thalweg::detail {

/// Inline an output takes the model `pack` and `write`; in the background `pack`, and of `write`
/// what is left when it has computed for `computing`. It pays where that saves a fifth of the time
/// of outputs, a thousandth of the run, and a millisecond an output.
bool pays_in_background(const OutputTimes& times);

/// "2 outputs took 0.1 s to pack and 0.4 s to write, while the model computed for 3 s"
std::string in_words(const OutputTimes& times);

}  // namespace thalweg::detail
