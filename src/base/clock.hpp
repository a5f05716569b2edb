// The library's only clock and sleep, so that both can be simulated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

namespace thalweg::detail {

#ifdef THALWEG_SIMULATED
double now();
void sleep_seconds(double seconds);
#else
/// Returns the time in seconds since a fixed moment.
inline double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

inline void sleep_seconds(double seconds) {
    timespec t;
    t.tv_sec = static_cast<time_t>(seconds);
    t.tv_nsec = static_cast<long>((seconds - t.tv_sec) * 1e9);
    nanosleep(&t, nullptr);
}
#endif

/// Measures the time of a scope and adds it to a sum.
class Stopwatch {
public:
    explicit Stopwatch(double& sum) : sum_(sum), begin_(now()) {}
    ~Stopwatch() { sum_ += now() - begin_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double& sum_;
    double begin_;
};

}  // namespace thalweg::detail
