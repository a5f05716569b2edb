// Reports where a rank is in a call that does not return, and ends the job if asked to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/waiting.hpp"

namespace thalweg::detail {

class WatchdogThread;

/// The watchdog of a session. All sessions of a process share one thread, which does not call MPI.
class Watchdog {
public:
    /**
     * @param seconds  interval between reports on a call that has not returned; 0: no reports
     * @param limit    duration of a call after which the process is aborted; 0: no limit
     * @return null if nothing is to be watched
     */
    static std::unique_ptr<Watchdog> make(std::int64_t seconds, std::int64_t limit, int rank);

private:
    friend class WatchedCall;
    friend class WatchdogThread;
    std::shared_ptr<WatchdogThread> thread_;
    std::chrono::seconds interval_{0};  ///< 0: no reports
    std::chrono::seconds limit_{0};     ///< largest duration of a call; 0: no limit
    int rank_ = 0;
};

/// A call of the library that is watched for the duration of a scope. Costs nothing without a
/// watchdog.
class WatchedCall {
public:
    /**
     * @param watchdog  may be null; it and the texts must outlive this object
     * @param path      path of the file that the call is about; null if there is none
     * @param step      step of the file, from 1; 0 if there is none
     */
    WatchedCall(const Watchdog* watchdog, const char* call, const char* path = nullptr,
                std::int64_t step = 0);
    ~WatchedCall();
    WatchedCall(const WatchedCall&) = delete;
    WatchedCall& operator=(const WatchedCall&) = delete;

private:
    friend class WatchdogThread;
    void set_due(std::chrono::steady_clock::time_point now);

    const Watchdog* watchdog_;
    const char* call_;
    const char* path_;
    std::int64_t step_;
    /// Reason why the calling thread waits; null if it does not.
    const WaitingFor* waiting_ = nullptr;
    std::chrono::steady_clock::time_point begin_, due_;
};

}  // namespace thalweg::detail
