// Says where a rank stands in a call that does not return.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "comm/waiting.hpp"

namespace thalweg::detail {

class WatchdogThread;

/// A session's wish to be watched. All sessions of a process share one thread, which calls no MPI.
class Watchdog {
public:
    /// Null where nothing is to be watched.
    static std::unique_ptr<Watchdog> make(std::int64_t seconds, int rank);

private:
    friend class Standing;
    friend class WatchdogThread;
    std::shared_ptr<WatchdogThread> thread_;
    std::chrono::seconds interval_{0};
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
    const Watchdog* watchdog_;
    const char* call_;
    const char* path_;
    std::int64_t step_;
    const WaitingFor* waiting_ = nullptr;  ///< of the calling thread
    std::chrono::steady_clock::time_point begin_, due_;
};

}  // namespace thalweg::detail
