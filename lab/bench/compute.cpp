// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include <algorithm>
#include <array>

#include "base/clock.hpp"

namespace thalweg::bench {
namespace {

/// Smooths a ring of numbers that fits in the first-level cache. It keeps the floating-point units
/// busy, but not the memory, which other processes share.
void arithmetic(std::int64_t rounds) {
    alignas(64) static std::array<double, 1024> ring = [] {
        std::array<double, 1024> start{};
        for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<double>(i % 7);
        return start;
    }();
    for (std::int64_t r = 0; r < rounds; ++r) {
        const double first = ring[0];
        for (std::size_t i = 0; i + 1 < ring.size(); ++i)
            ring[i] = 0.75 * ring[i] + 0.25 * ring[i + 1];
        ring.back() = 0.75 * ring.back() + 0.25 * first;
        // Keep the compiler from removing rounds.
        asm volatile("" : : "r"(ring.data()) : "memory");
    }
}

}  // namespace

const char* name_of(Computing computing) {
    return computing == Computing::sleep ? "sleep" : "arithmetic";
}

double calibrate_arithmetic(const RankGroup& rank_group) {
    constexpr double long_enough = 0.25;
    for (std::int64_t rounds = 1000;; rounds *= 2) {
        double seconds = 0;
        // Take the fastest of several trials, as other programs may interfere.
        for (int i = 0; i < 3; ++i) {
            const double start = rank_group.start();
            arithmetic(rounds);
            const double taken = rank_group.max(detail::now() - start);
            seconds = i == 0 ? taken : std::min(seconds, taken);
            if (seconds < long_enough) break;
        }
        if (seconds >= long_enough) return static_cast<double>(rounds) / seconds;
    }
}

void Compute::run() const {
    if (computing_ == Computing::arithmetic) {
        arithmetic(rounds_);
        return;
    }
    const double end = detail::now() + seconds_;
    for (double left; (left = end - detail::now()) > 0;) detail::sleep_seconds(left);
}

}  // namespace thalweg::bench
