// SPDX-License-Identifier: Apache-2.0
#include "base/system/thread.hpp"

#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/system/arithmetic.hpp"

namespace thalweg::detail {

Status start_thread(std::thread& thread, std::function<void()> run, const char* task) {
    sigset_t all, before;
    sigfillset(&all);
    for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const OwnArithmetic arithmetic;  // the thread begins with it
    Status status;
    try {
        thread = std::thread([run = std::move(run), task] {
            try {
                run();
            } catch (const std::exception&) {
                std::fprintf(stderr, "thalweg: %s in the thread that %s: the job ends\n",
                             exception_status().text.c_str(), task);
                std::fflush(stderr);
                std::abort();
            }
        });
        pthread_setname_np(thread.native_handle(), "thalweg");
    } catch (const std::system_error& e) {
        status = failure(TW_ENOMEM, "cannot start a thread that {}: {}", task, e.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return status;
}

struct WaitingThread::State {
    std::thread thread;
};

WaitingThread::WaitingThread() = default;
WaitingThread::~WaitingThread() = default;

Status WaitingThread::start(std::function<void()> run, const char* task) {
    auto state = std::make_unique<State>();
    Status status = start_thread(state->thread, std::move(run), task);
    if (status.ok()) state_ = std::move(state);
    return status;
}

void WaitingThread::join() {
    if (!state_) return;
    state_->thread.join();
    state_.reset();
}

struct WaitingLock::State {
    std::mutex mutex;
};

WaitingLock::WaitingLock() : state_(std::make_unique<State>()) {}
WaitingLock::~WaitingLock() = default;
void WaitingLock::lock() { state_->mutex.lock(); }
bool WaitingLock::try_lock() { return state_->mutex.try_lock(); }
void WaitingLock::unlock() { state_->mutex.unlock(); }

}  // namespace thalweg::detail
