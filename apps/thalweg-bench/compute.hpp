// The computing between two outputs: a model's, as far as output is concerned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "measurement.hpp"

namespace thalweg::bench {

enum class Computing {
    sleep,      ///< the cores are free for whoever writes, as on a machine with cores to spare
    arithmetic  ///< floating-point numbers on every rank: whoever writes takes a core from them
};

const char* name_of(Computing computing);

/// Rounds of arithmetic a second on the slowest rank, where all of them compute at once: with more
/// ranks than cores, the cores are shared. @note Collective
double calibrate_arithmetic(const Meeting& meeting);

/// Lasts `seconds`, without other ranks' help or hindrance.
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
