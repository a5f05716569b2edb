// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// Seconds that a model's outputs took, and seconds that the model computed between them.
struct OutputTimes {
    std::int64_t outputs = 0;  ///< number of steps that have ended
    double pack = 0;           ///< seconds of copying or packing, on the slowest rank
    double write = 0;          ///< seconds of writing to storage, on the slowest writer
    /// Seconds outside the library's calls while a file was open for writing, on the rank that
    /// computed least.
    double computing = 0;

    OutputTimes& operator+=(const OutputTimes& other) {
        outputs += other.outputs;
        pack += other.pack;
        write += other.write;
        computing += other.computing;
        return *this;
    }
};

}  // namespace thalweg::detail
