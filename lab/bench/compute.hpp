// The computing between two outputs, as far as it matters to output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "measurement.hpp"

namespace thalweg::bench {

enum class Computing {
    sleep,      ///< ranks sleep, so that writers find free cores
    arithmetic  ///< ranks do floating-point work, so writers take cores from them
};

const char* name_of(Computing computing);

/// Returns the number of arithmetic rounds per second on the slowest rank, while all ranks compute.
/// If there are more ranks than cores, ranks share them.
/// @note Collective
double calibrate_arithmetic(const RankGroup& rank_group);

/// Computes for a number of seconds, independently of the other ranks.
class Compute {
public:
    Compute(Computing computing, double seconds, double rounds_per_second)
        : computing_(computing),
          seconds_(seconds),
          rounds_(static_cast<std::int64_t>(seconds * rounds_per_second)) {}
    void run() const;

private:
    Computing computing_;
    double seconds_;
    std::int64_t rounds_;
};

}  // namespace thalweg::bench
