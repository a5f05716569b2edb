// Says where a rank stands in a call that does not return, and ends it if it is asked to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/waiting.hpp"

namespace thalweg::detail {

class WatchdogThread;

/// A session's wish to be watched. All sessions of a process share one thread, which calls no MPI.
class Watchdog {
public:
    /**
     * @param seconds  from report to report of a call. @param limit  that a call may take: then the
     *                 process is aborted; 0: none
     * @return null where nothing is to be watched
     */
    static std::unique_ptr<Watchdog> make(std::int64_t seconds, std::int64_t limit, int rank);

private:
    friend class Standing;
    friend class WatchdogThread;
    std::shared_ptr<WatchdogThread> thread_;
    std::chrono::seconds interval_{0};  ///< 0: no reports
    std::chrono::seconds limit_{0};     ///< 0: none
    int rank_ = 0;
};

/// A call of the library that is under way, for a scope; of no cost without a watchdog.
class Standing {
public:
    /**
     * @param watchdog  may be null; outlives this, as do the texts
     * @param path      of the file, null if there is none
     * @param step      of the file, from 1; 0 if there is none
     */
    Standing(const Watchdog* watchdog, const char* call, const char* path = nullptr,
             std::int64_t step = 0);
    ~Standing();
    Standing(const Standing&) = delete;
    Standing& operator=(const Standing&) = delete;

private:
    friend class WatchdogThread;
    void set_due(std::chrono::steady_clock::time_point now);

    const Watchdog* watchdog_;
    const char* call_;
    const char* path_;
    std::int64_t step_;
    const WaitingFor* waiting_ = nullptr;  ///< of the calling thread
    std::chrono::steady_clock::time_point begin_, due_;
};

}  // namespace thalweg::detail
