// What a thread waits for, in words, for a watchdog that looks at it from another thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace thalweg::detail {

/// Null, or the end of a sentence "waiting for ...": a literal, which outlives everybody.
using WaitingFor = std::atomic<const char*>;

inline thread_local WaitingFor waiting_for{nullptr};

/// Says it for a scope. The outermost one stands, as it knows the reason best. Costs a store or
/// two, so it is there whether anybody looks or not.
class Waiting {
public:
    explicit Waiting(const char* what)
        : outermost_(waiting_for.load(std::memory_order_relaxed) == nullptr) {
        if (outermost_) waiting_for.store(what, std::memory_order_relaxed);
    }
    ~Waiting() {
        if (outermost_) waiting_for.store(nullptr, std::memory_order_relaxed);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

private:
    bool outermost_;
};

}  // namespace thalweg::detail
