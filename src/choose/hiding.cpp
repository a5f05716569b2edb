// SPDX-License-Identifier: Apache-2.0
#include "choose/hiding.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace thalweg::detail {

bool pays_in_background(const OutputTimes& times) {
    // Ignore the first output: it is slow because memory and files are used for the first time.
    if (times.outputs < 2) return false;
    const double output = times.pack + times.write;
    const double saved = std::min(times.write, times.computing);
    const auto outputs = static_cast<double>(times.outputs);
    return saved > 0.2 * output && saved > 0.001 * (output + times.computing) &&
           saved > 1e-3 * outputs;
}

std::string in_words(const OutputTimes& times) {
    return fmt::format(
        "{} outputs took {:.3g} s to pack and {:.3g} s to write, and between them the model "
        "computed for {:.3g} s",
        times.outputs, times.pack, times.write, times.computing);
}

}  // namespace thalweg::detail
