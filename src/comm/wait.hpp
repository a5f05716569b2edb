// Sleeps until another rank of the node changes a word in shared memory. A rank that waits in MPI
// spins: if there are more ranks than cores, it takes the processor from the ranks that it waits
// for. A rank that waits here sleeps in the kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace thalweg::detail {

class Comm;

using Futex = std::atomic<std::uint32_t>;
static_assert(Futex::is_always_lock_free);

/// Sleeps while `word` has the given value. Wakes now and then to let MPI make progress, as another
/// rank may wait for a message that this one has started before.
/// @param comm  null for a thread that must not call MPI
/// @param spin  seconds of active waiting before the first sleep
void wait_while(Futex& word, std::uint32_t value, Comm* comm, double spin = 0);

/// Sleeps in the same way, but only for one nap. @return true if the value has changed
bool wait_briefly(Futex& word, std::uint32_t value, Comm* comm, double seconds = 0.002);

/// Wakes all threads that sleep on the word.
void wake_all(Futex& word);

/// Changes the word and wakes all threads that sleep on it.
void ring(Futex& word);

}  // namespace thalweg::detail
