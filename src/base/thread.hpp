// The library's own threads. They make no MPI calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/status.hpp"

namespace thalweg::detail {

/// Starts a thread that blocks all signals except those that it raises itself, so that the model
/// handles them.
/// @param task  the thread's purpose, for the error message: "reads ahead"
Status start_thread(std::thread& thread, std::function<void()> run, const char* task);

/// A thread that can be simulated: it waits only by means of comm/wait.hpp and base/clock.hpp, and
/// while it waits it holds no locks but WaitingLocks.
class WaitingThread {
public:
    WaitingThread();
    ~WaitingThread();  ///< join() must have been called
    WaitingThread(const WaitingThread&) = delete;
    WaitingThread& operator=(const WaitingThread&) = delete;

    /// Starts the thread as start_thread() does.
    Status start(std::function<void()> run, const char* task);
    bool started() const { return state_ != nullptr; }
    /// Waits for the thread's end, if it was started.
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
