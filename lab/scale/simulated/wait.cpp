// Waits for a word of shared memory in a simulation: in place of src/comm/wait.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "comm/wait.hpp"

#include <map>
#include <simgrid/s4u.hpp>

#include "counters/heap.hpp"
#include "machine.hpp"

namespace thalweg::detail {

namespace {

namespace sg4 = simgrid::s4u;

/// Returns the ranks that sleep on each word. All ranks are contexts of one thread, which changes
/// its context only in calls of the simulation.
std::multimap<const Futex*, sg4::Semaphore*>& sleepers() {
    static std::multimap<const Futex*, sg4::Semaphore*> all;
    return all;
}

/// @param seconds  longest time to sleep; negative: no limit
void sleep_on(Futex& word, double seconds) {
    const scale::HeapPause pause;
    const sg4::SemaphorePtr bell = sg4::Semaphore::create(0);
    const auto place = sleepers().emplace(&word, bell.get());
    bool rung = true;
    if (seconds < 0)
        bell->acquire();
    else
        rung = !bell->acquire_timeout(seconds);
    sleepers().erase(place);
    const double wake = scale::machine().wake;
    if (rung && wake > 0) sg4::this_actor::sleep_for(wake);
}

}  // namespace

bool wait_briefly(Futex& word, std::uint32_t value, Comm*, double seconds) {
    if (word.load(std::memory_order_acquire) == value) sleep_on(word, seconds);
    return word.load(std::memory_order_acquire) != value;
}

/// Sleeps until the word changes. Messages in the simulation progress without help, and the
/// simulation reports ranks that wait forever.
void wait_while(Futex& word, std::uint32_t value, Comm*, double) {
    while (word.load(std::memory_order_acquire) == value) sleep_on(word, -1);
}

void wake_all(Futex& word) {
    const scale::HeapPause pause;
    // Copy the list first: when a rank is woken, others may run and remove themselves from it.
    std::vector<sg4::SemaphorePtr> bells;
    const auto [begin, end] = sleepers().equal_range(&word);
    for (auto s = begin; s != end; ++s) bells.emplace_back(s->second);
    const scale::Machine& m = scale::machine();
    if (m.futex > 0) sg4::this_actor::sleep_for(m.futex);
    for (const auto& bell : bells) {
        if (m.rouse > 0) sg4::this_actor::sleep_for(m.rouse);
        bell->release();
    }
}

void ring(Futex& word) {
    word.fetch_add(1, std::memory_order_acq_rel);
    wake_all(word);
}

}  // namespace thalweg::detail
