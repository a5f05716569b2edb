// What the drivers need of the operating system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

#include "comm/status.hpp"

namespace thalweg {

/// errno in the system's words.
inline Status system_failure(const std::string& path, const std::string& what) {
    return failure(TW_EIO, "{}: {}: {}", path, what, std::strerror(errno));
}

/// A limit on the file size raises SIGXFSZ, which would end the model; blocked for the moment, the
/// write fails with EFBIG instead.
class NoSizeSignal {
public:
    NoSizeSignal() {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &set, &before_);
    }
    ~NoSizeSignal() {
        if (raised_) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGXFSZ);
            const timespec none{0, 0};
            sigtimedwait(&set, nullptr, &none);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoSizeSignal(const NoSizeSignal&) = delete;
    NoSizeSignal& operator=(const NoSizeSignal&) = delete;
    /// The signal may be pending; it is taken away.
    void raised() { raised_ = true; }

private:
    sigset_t before_{};
    bool raised_ = false;
};

}  // namespace thalweg
