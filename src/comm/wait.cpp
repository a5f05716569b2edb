// SPDX-License-Identifier: Apache-2.0
#include "comm/wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

#include "base/clock.hpp"
#include "comm/comm.hpp"

namespace thalweg::detail {

bool wait_briefly(Futex& word, std::uint32_t value, Comm* comm, double seconds) {
    auto* address = reinterpret_cast<std::uint32_t*>(&word);
    const auto whole = static_cast<time_t>(seconds);
    const timespec nap{whole, static_cast<long>((seconds - whole) * 1e9)};
    syscall(SYS_futex, address, FUTEX_WAIT, value, &nap, nullptr, 0);
    if (word.load(std::memory_order_acquire) != value) return true;
    if (comm != nullptr) comm->progress();
    return false;
}

void wait_while(Futex& word, std::uint32_t value, Comm* comm, double spin) {
    // Limits of a nap in seconds: long enough to cost nothing, short enough for a transfer that
    // waits for this rank.
    constexpr double shortest = 0.004, longest = 0.016;
    double nap = shortest;
    const double end = spin > 0 ? now() + spin : 0;
    while (word.load(std::memory_order_acquire) == value) {
        if (spin > 0 && now() < end) continue;
        wait_briefly(word, value, comm, nap);
        nap = std::min(4 * nap, longest);
    }
}

void wake_all(Futex& word) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr,
            nullptr, 0);
}

void ring(Futex& word) {
    word.fetch_add(1, std::memory_order_acq_rel);
    wake_all(word);
}

}  // namespace thalweg::detail
