// SPDX-License-Identifier: Apache-2.0
#include "telemetry/watchdog.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/system/thread.hpp"

namespace thalweg::detail {

// The watchdog's thread must not call MPI, which the library's own clock uses.
using Clock = std::chrono::steady_clock;

class WatchdogThread {
public:
    /// Starts the thread. Without it, the model runs without a watchdog.
    WatchdogThread() {
        (void)start_thread(
            thread_, [this] { run(); }, "watches calls");
    }
    ~WatchdogThread() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_one();
        if (thread_.joinable()) thread_.join();
    }

    /// Registers a call to be watched.
    void add(WatchedCall* standing) {
        const std::lock_guard lock(mutex_);
        standings_.push_back(standing);
    }
    void remove(const WatchedCall* standing) {
        const std::lock_guard lock(mutex_);
        std::erase(standings_, standing);
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            // Wait for at most one second: a call that begins meanwhile is not due earlier.
            Clock::time_point next = Clock::now() + std::chrono::seconds(1);
            for (const WatchedCall* s : standings_) next = std::min(next, s->due_);
            wake_.wait_until(lock, next);
            const Clock::time_point now = Clock::now();
            for (WatchedCall* s : standings_) {
                if (now < s->due_) continue;
                say(*s, now);
                if (is_over(*s, now)) end(*s);
                s->set_due(now);
            }
        }
    }

    /// Prints the report regardless of the log level, because the user asked for a watchdog.
    static void say(const WatchedCall& s, Clock::time_point now) {
        std::string line =
            fmt::format("thalweg: rank {} has been in {}", s.watchdog_->rank_, s.call_);
        if (s.path_ != nullptr) line += fmt::format(" of {}", s.path_);
        if (s.step_ > 0) line += fmt::format(", step {},", s.step_);
        line += fmt::format(
            " for {} s", std::chrono::duration_cast<std::chrono::seconds>(now - s.begin_).count());
        if (const char* what = s.waiting_->load(std::memory_order_relaxed); what != nullptr)
            line += fmt::format(": waiting for {}", what);
        std::fputs((line + "\n").c_str(), stderr);
    }

    static bool is_over(const WatchedCall& s, Clock::time_point now) {
        const std::chrono::seconds limit = s.watchdog_->limit_;
        return limit.count() > 0 && now - s.begin_ >= limit;
    }

    /// Ends the process without calling MPI, which may be the cause of the hang. The launcher then
    /// ends the job.
    [[noreturn]] static void end(const WatchedCall& s) {
        std::fprintf(stderr, "thalweg: rank %d ends the job (setting watchdog)\n",
                     s.watchdog_->rank_);
        std::fflush(nullptr);
        std::abort();
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<WatchedCall*> standings_;
    bool stopping_ = false;
    std::thread thread_;
};

std::unique_ptr<Watchdog> Watchdog::make(std::int64_t seconds, std::int64_t limit, int rank) {
    if (seconds <= 0 && limit <= 0) return nullptr;
    static std::mutex mutex;
    static auto& of_process = *new std::weak_ptr<WatchdogThread>;
    const std::lock_guard lock(mutex);
    auto watchdog = std::make_unique<Watchdog>();
    watchdog->thread_ = of_process.lock();
    if (!watchdog->thread_) {
        watchdog->thread_ = std::make_shared<WatchdogThread>();
        of_process = watchdog->thread_;
    }
    watchdog->interval_ = std::chrono::seconds(seconds);
    watchdog->limit_ = std::chrono::seconds(limit);
    watchdog->rank_ = rank;
    return watchdog;
}

WatchedCall::WatchedCall(const Watchdog* watchdog, const char* call, const char* path,
                         std::int64_t step)
    : watchdog_(watchdog), call_(call), path_(path), step_(step) {
    if (watchdog_ == nullptr) return;
    waiting_ = &waiting_for;
    due_ = begin_ = Clock::now();
    set_due(begin_);
    watchdog_->thread_->add(this);
}

/// Sets the time of the next report, or of the limit if that comes first.
void WatchedCall::set_due(Clock::time_point now) {
    const std::chrono::seconds interval = watchdog_->interval_, limit = watchdog_->limit_;
    if (interval.count() > 0)
        while (due_ <= now) due_ += interval;
    if (limit.count() > 0 && (interval.count() == 0 || due_ > begin_ + limit))
        due_ = begin_ + limit;
}

WatchedCall::~WatchedCall() {
    if (watchdog_ != nullptr) watchdog_->thread_->remove(this);
}

}  // namespace thalweg::detail
