// The library's own threads. They make no MPI calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/status.hpp"

namespace thalweg::detail {

/// Starts a thread. It blocks all signals except those that its own faults raise (such as SIGSEGV),
/// so that the model's threads handle the others, and traps no floating-point exceptions.
/// @param task  verb that tells the thread's purpose, for the error message, such as "reads ahead"
Status start_thread(std::thread& thread, std::function<void()> run, const char* task);

/// A thread that also works in a simulation. It may wait only through comm/wait.hpp and
/// base/clock.hpp; while it waits, it may hold no locks but WaitingLocks.
class WaitingThread {
public:
    WaitingThread();
    ~WaitingThread();  ///< the thread must have ended: call join() before
    WaitingThread(const WaitingThread&) = delete;
    WaitingThread& operator=(const WaitingThread&) = delete;

    /// Starts the thread as start_thread() does.
    Status start(std::function<void()> run, const char* task);
    bool started() const { return state_ != nullptr; }
    /// Waits until the thread has ended, if it was started.
    void join();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A mutex whose owner may wait or write to a file before it unlocks.
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
