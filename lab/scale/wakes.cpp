// scale-wakes: measures what ranks of a node cost each other, for the numbers of a simulated
// machine: waking processes that sleep on a word of shared memory, and changing a word that others
// change, too.
// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

using Word = std::atomic<std::uint32_t>;

struct Shared {
    alignas(64) Word bell{0};    ///< number of calls that wake
    alignas(64) Word asleep{0};  ///< times that a process has begun to sleep
    alignas(64) Word woken{0};   ///< times that a process has woken
    alignas(64) Word ready{0};
    alignas(64) Word counter{0};  ///< changed by all
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void futex(Word& word, int operation, std::uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr,
            0);
}

/// Runs act(place) in child processes while the parent runs its own part.
template <class Child, class Parent>
void with_children(int children, Child&& child, Parent&& parent) {
    std::vector<pid_t> all;
    for (int i = 0; i < children; ++i) {
        const pid_t pid = fork();
        if (pid < 0) {
            std::perror("scale-wakes: fork");
            std::exit(1);
        }
        if (pid == 0) {
            child(i);
            _exit(0);
        }
        all.push_back(pid);
    }
    parent();
    for (const pid_t pid : all) waitpid(pid, nullptr, 0);
}

struct Wakes {
    double call = 0;     ///< seconds of a call that wakes all sleepers
    double arrival = 0;  ///< seconds until the last of them runs
};

/// Wakes a number of sleepers some times. @return medians
Wakes wake(Shared& s, int sleepers) {
    constexpr std::uint32_t rounds = 40;
    new (&s) Shared;
    std::vector<double> calls, arrivals;
    const auto sleep = [&](int) {
        for (std::uint32_t round = 0; round < rounds; ++round) {
            s.asleep.fetch_add(1);
            while (s.bell.load() == round) futex(s.bell, FUTEX_WAIT, round);
            s.woken.fetch_add(1);
        }
    };
    with_children(sleepers, sleep, [&] {
        for (std::uint32_t round = 0; round < rounds; ++round) {
            const std::uint32_t all = static_cast<std::uint32_t>(sleepers) * (round + 1);
            while (s.asleep.load() < all) usleep(100);
            usleep(2000);  // until the last one sleeps, too
            const double begin = now();
            s.bell.store(round + 1);
            futex(s.bell, FUTEX_WAKE, INT_MAX);
            calls.push_back(now() - begin);
            while (s.woken.load() < all)
                if (sleepers > 1) sched_yield();
            arrivals.push_back(now() - begin);
        }
    });
    const auto median = [](std::vector<double>& v) {
        std::nth_element(v.begin(), v.begin() + rounds / 2, v.end());
        return v[rounds / 2];
    };
    return {median(calls), median(arrivals)};
}

/// Returns the seconds for which a change of one word by a process delays changes by other
/// processes.
double update(Shared& s, int processes) {
    constexpr std::uint32_t changes = 2'000'000;
    new (&s) Shared;
    double seconds = 0;
    const auto change = [&](int) {
        s.ready.fetch_add(1);
        while (s.ready.load() < static_cast<std::uint32_t>(processes)) {
        }
        for (std::uint32_t i = 0; i < changes; ++i) s.counter.fetch_add(1);
    };
    with_children(processes - 1, change, [&] {
        const double begin = now();
        change(0);
        const std::uint32_t all = changes * static_cast<std::uint32_t>(processes);
        while (s.counter.load() < all) {
        }
        seconds = now() - begin;
    });
    return seconds / changes / processes;
}

}  // namespace

int main(int argc, char** argv) {
    const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    const int most = argc > 1 ? std::atoi(argv[1]) : 127;
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || most < 2) return 1;
    auto& shared = *new (memory) Shared;
    const Wakes none = wake(shared, 0), one = wake(shared, 1), many = wake(shared, most);
    std::printf(
        "{\"cores\": %d, \"sleepers\": %d, \"futex\": %.2e, \"rouse\": %.2e, \"wake\": %.2e, "
        "\"update\": %.2e, \"arrival\": %.2e}\n",
        cores, most, none.call, (many.call - none.call) / most, one.arrival - one.call,
        update(shared, std::max(2, cores)), many.arrival);
    return 0;
}
