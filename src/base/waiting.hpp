// The reason why a thread waits, in words: read by the watchdog from another thread, and by a
// trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.hpp"
#include "base/trace.hpp"

namespace thalweg::detail {

/// The end of a sentence that begins with "waiting for", or null. It points to a string literal, so
/// it stays valid.
using WaitingFor = std::atomic<const char*>;

inline thread_local WaitingFor waiting_for{nullptr};

/// The reason of waits for a write or a read. These have their own events in a trace.
inline constexpr const char* the_file_system = "the file system";

/// Sets the reason why this thread waits, for the duration of a scope. In nested scopes the
/// outermost reason counts, as it explains most. Always on, as it costs only one or two stores.
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
