// Decides from the outputs of a run so far whether writing in the background pays off.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "telemetry/output_times.hpp"

namespace thalweg::detail {

/// Tests if writing in the background saves enough time: a fifth of the time of outputs, a
/// thousandth of the run's time, and a millisecond per output. Inline, the model waits for the
/// times `pack` and `write`; in the background, for `pack` and for the excess of `write` over
/// `computing`.
bool pays_in_background(const OutputTimes& times);

/// Formats measurements, for example "2 outputs took 0.1 s to pack and 0.4 s to write, while the
/// model computed for 3 s".
std::string in_words(const OutputTimes& times);

}  // namespace thalweg::detail
