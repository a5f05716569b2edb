// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// Seconds that outputs took, and that the model computed between outputs.
struct OutputTimes {
    std::int64_t outputs = 0;  ///< number of steps that have ended
    double pack = 0;           ///< copying or packing, on the slowest rank
    double write = 0;          ///< writing to storage, on the slowest writer
    /// Outside the library's calls while a file was written, on the rank that computed least.
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
