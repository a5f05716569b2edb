// Keeps a limit on file sizes from ending the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace thalweg::detail {

/// Blocks the signal SIGXFSZ for the duration of a scope. A write beyond the limit on file sizes
/// raises it, which would end the model. While it is blocked, the write fails with EFBIG instead.
class IgnoreSigxfsz {
public:
    IgnoreSigxfsz() {
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
        const sigset_t set = sigxfsz();
        pthread_sigmask(SIG_BLOCK, &set, &before_);
    }
    ~IgnoreSigxfsz() {
        const int error = errno;
        sigset_t pending;
        sigpending(&pending);
        if (!was_pending_ && sigismember(&pending, SIGXFSZ) == 1) {
            const sigset_t set = sigxfsz();
            const timespec none{0, 0};
            sigtimedwait(&set, nullptr, &none);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    IgnoreSigxfsz(const IgnoreSigxfsz&) = delete;
    IgnoreSigxfsz& operator=(const IgnoreSigxfsz&) = delete;

private:
    static sigset_t sigxfsz() {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        return set;
    }
    sigset_t before_{};
    bool was_pending_ = false;
};

}  // namespace thalweg::detail
