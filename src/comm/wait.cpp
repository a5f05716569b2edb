// SPDX-License-Identifier: Apache-2.0
#include "comm/wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "comm/comm.hpp"

namespace thalweg {

namespace {
/// Long enough to cost nothing, short enough for a stalled transfer.
constexpr long nap_nanoseconds = 2'000'000;
}  // namespace

void wait_while(Word& word, std::uint32_t value, Comm* comm) {
    auto* address = reinterpret_cast<std::uint32_t*>(&word);
    while (word.load(std::memory_order_acquire) == value) {
        const timespec nap{0, nap_nanoseconds};
        syscall(SYS_futex, address, FUTEX_WAIT, value, &nap, nullptr, 0);
        if (comm != nullptr && word.load(std::memory_order_acquire) == value) comm->progress();
    }
}

void wake_all(Word& word) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr,
            nullptr, 0);
}

}  // namespace thalweg
