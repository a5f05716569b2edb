// Threads of the library's own. They make no MPI calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/status.hpp"

namespace thalweg::detail {

/// Starts a thread that leaves signals to the model, but for those that it raises itself.
/// @param task  for the message where there can be none: "reads ahead"
Status start_thread(std::thread& thread, std::function<void()> run, const char* task);

/// A thread that can be simulated: all its waits are those of comm/wait.hpp and base/clock.hpp, and
/// what it keeps locked meanwhile are WaitingLocks.
class WaitingThread {
public:
    WaitingThread();
    ~WaitingThread();  ///< after join()
    WaitingThread(const WaitingThread&) = delete;
    WaitingThread& operator=(const WaitingThread&) = delete;

    /// As start_thread.
    Status start(std::function<void()> run, const char* task);
    bool started() const { return state_ != nullptr; }
    /// Waits for its end, if it was started.
    void join();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A mutex whose owner may wait for time to pass, or write, before it unlocks.
class WaitingLock {
public:
    WaitingLock();
    ~WaitingLock();
    WaitingLock(const WaitingLock&) = delete;
    WaitingLock& operator=(const WaitingLock&) = delete;

    void lock();
    bool try_lock();
    void unlock();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace thalweg::detail
