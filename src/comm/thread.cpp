// SPDX-License-Identifier: Apache-2.0
#include "comm/thread.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>

namespace thalweg::detail {

Status start_thread(std::thread& thread, std::function<void()> run, const char* task) {
    sigset_t all, before;
    sigfillset(&all);
    for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Status status;
    try {
        thread = std::thread(std::move(run));
        pthread_setname_np(thread.native_handle(), "thalweg");
    } catch (const std::system_error& e) {
        status = failure(TW_ENOMEM, "cannot start a thread that {}: {}", task, e.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return status;
}

}  // namespace thalweg::detail
