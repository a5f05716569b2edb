// The simulation's clock, for ranks and for the library's own threads.
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <simgrid/s4u.hpp>

#include "counters/heap.hpp"

namespace thalweg::detail {

double now() { return simgrid::s4u::Engine::get_clock(); }

void sleep_seconds(double seconds) {
    const scale::HeapPause pause;
    simgrid::s4u::this_actor::sleep_for(seconds);
}

}  // namespace thalweg::detail
