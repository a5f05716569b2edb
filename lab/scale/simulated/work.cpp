// SPDX-License-Identifier: Apache-2.0
#include "base/work.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>

#include "counters/heap.hpp"
#include "file_system.hpp"
#include "machine.hpp"

namespace thalweg::detail {

/// Lets time pass for a poll. Later polls take longer, because each costs the simulation effort.
void charge_poll(int n) {
    const scale::HeapPause pause;
    const double seconds = 1e-6 * std::pow(1.3, std::min(n, 12));
    simgrid::s4u::this_actor::sleep_for(seconds);
}

namespace {

/// Returns a pseudo-random number from 0 to 1, the same in every run.
double chance(std::uint64_t process, std::uint64_t number) {
    std::uint64_t x = process * 0x9E3779B97F4A7C15U + number;
    for (const int shift : {30, 27}) {
        x ^= x >> shift;
        x *= 0xBF58476D1CE4E5B9U;
    }
    return static_cast<double>(x >> 11) * 0x1p-53;
}

/// The time for copies that a rank has not let pass yet.
struct Owed {
    double seconds = 0;
    std::uint64_t paid = 0;  ///< number of pauses so far, from which the random length of the next
                             ///< one is computed
};

/// Lets the time of a copy pass. Short times are added up first, because each pause costs the
/// simulation effort.
void charge(double of_copy) {
    constexpr double least = 20e-6;
    const scale::HeapPause pause;
    static std::map<long, Owed> of_process;
    const auto process = simgrid::s4u::this_actor::get_pid();
    Owed& owed = of_process[process];
    owed.seconds += of_copy;
    if (owed.seconds < least) return;
    // Make all ranks differ in speed. Otherwise ranks that wait for the same event would reach the
    // storage in an order that the simulator chooses arbitrarily.
    const double slower =
        1 + scale::machine().jitter * chance(static_cast<std::uint64_t>(process), ++owed.paid);
    const double now = owed.seconds * slower;
    owed.seconds = 0;
    simgrid::s4u::this_actor::sleep_for(now);
}

}  // namespace

/// Lets the time of a change pass: ranks that change words of one cache line at a time take turns.
void charge_update(const void* word) {
    const double seconds = scale::machine().update;
    if (seconds == 0) return;
    const scale::HeapPause pause;
    static std::map<std::uintptr_t, double> free_from;  // by cache line
    const double now = simgrid::s4u::Engine::get_clock();
    double& from = free_from[reinterpret_cast<std::uintptr_t>(word) / 64];
    from = std::max(from, now) + seconds;
    charge(from - now);
}

bool charge_copy(std::span<const std::int64_t> count) {
    const double rate = scale::machine().copy;
    double elements = 1;
    for (const std::int64_t n : count) elements *= static_cast<double>(n);
    if (rate > 0) charge(elements / rate);
    return scale::keeps_data();
}

bool charge_list(const CopiedRuns& copied) {
    const scale::Machine& m = scale::machine();
    const double elements = m.copy > 0 ? static_cast<double>(copied.elements) / m.copy : 0;
    charge(elements + static_cast<double>(copied.runs) * m.run);
    return scale::keeps_data();
}

bool touches_memory() { return scale::keeps_data(); }

}  // namespace thalweg::detail
