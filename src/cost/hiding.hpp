// Whether it pays to write in the background, by what the outputs of a run have cost so far.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::detail {

/// What outputs have cost, and what the model did meanwhile: seconds, all told.
struct OutputTimes {
    std::int64_t outputs = 0;  ///< steps that have ended
    double pack = 0;           ///< copying or packing, of the rank that took longest
    double write = 0;          ///< in the storage, of the writer that took longest
    double computing = 0;      ///< outside the library's calls, while a file was written, of the
                               ///< rank that computed least

    OutputTimes& operator+=(const OutputTimes& other);
};

/// Inline an output takes the model `pack` and `write`; in the background `pack`, and of `write`
/// what is left when it has computed for `computing`. It pays where that saves a fifth of the time
/// of outputs, a thousandth of the run, and a millisecond an output.
bool pays_in_background(const OutputTimes& times);

/// "2 outputs took 0.1 s to pack and 0.4 s to write, while the model computed for 3 s"
std::string in_words(const OutputTimes& times);

}  // namespace thalweg::detail
