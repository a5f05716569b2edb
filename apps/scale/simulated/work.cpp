// SPDX-License-Identifier: Apache-2.0
#include "comm/work.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>

#include "counters/heap.hpp"
#include "machine.hpp"

namespace thalweg::detail {

/// The longer it lasts, the rarer: the simulation's effort is in the number of looks.
void charge_poll(int n) {
    const scale::HeapPause pause;
    const double seconds = 1e-6 * std::pow(1.3, std::min(n, 20));
    simgrid::s4u::this_actor::sleep_for(seconds);
}

void charge_copy(std::span<const std::int64_t> count) {
    // Copies that take less are paid together: the simulation would spend its time on them.
    constexpr double least = 20e-6;
    const scale::HeapPause pause;
    static std::map<long, double> owed;  // by rank
    const double rate = scale::machine().copy;
    if (rate <= 0) return;
    double elements = 1;
    for (const std::int64_t n : count) elements *= static_cast<double>(n);
    double& seconds = owed[simgrid::s4u::this_actor::get_pid()];
    seconds += elements / rate;
    if (seconds < least) return;
    const double now = seconds;
    seconds = 0;
    simgrid::s4u::this_actor::sleep_for(now);
}

}  // namespace thalweg::detail
