// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// Seconds that outputs took, and that the model computed between them.
struct OutputTimes {
    std::int64_t outputs = 0;  ///< number of steps that have ended
    double pack = 0;           ///< copying or packing, on the slowest rank
    double write = 0;          ///< in the storage, of the slowest writer
    double computing = 0;      ///< outside the library's calls while a file was written, on the
                               ///< rank that computed least

    OutputTimes& operator+=(const OutputTimes& other) {
        outputs += other.outputs;
        pack += other.pack;
        write += other.write;
        computing += other.computing;
        return *this;
    }
};

}  // namespace thalweg::detail
