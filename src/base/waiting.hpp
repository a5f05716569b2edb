// What a thread waits for, in words, for a watchdog that looks at it from another thread, and for a
// trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.hpp"
#include "base/trace.hpp"

namespace thalweg::detail {

/// Null, or the end of a sentence "waiting for ...": a literal, which outlives everybody.
using WaitingFor = std::atomic<const char*>;

inline thread_local WaitingFor waiting_for{nullptr};

/// In a write or a read, which a trace has by that name.
inline constexpr const char* the_file_system = "the file system";

/// Says it for a scope. The outermost one stands, as it knows the reason best. Costs a store or
/// two, so it is there whether anybody looks or not.
class Waiting {
public:
    explicit Waiting(const char* what)
        : outermost_(waiting_for.load(std::memory_order_relaxed) == nullptr) {
        if (!outermost_) return;
        waiting_for.store(what, std::memory_order_relaxed);
        if (trace_lane == nullptr || what == the_file_system) return;
        lane_ = trace_lane;
        what_ = what;
        begin_ = now();
    }
    ~Waiting() {
        if (!outermost_) return;
        waiting_for.store(nullptr, std::memory_order_relaxed);
        if (lane_ != nullptr) lane_->add_wait(what_, begin_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

private:
    bool outermost_;
    TraceLane* lane_ = nullptr;
    const char* what_ = nullptr;
    double begin_ = 0;
};

}  // namespace thalweg::detail
