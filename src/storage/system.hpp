// What the drivers need of the operating system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
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
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
        const sigset_t set = size_signal();
        pthread_sigmask(SIG_BLOCK, &set, &before_);
    }
    ~NoSizeSignal() {
        const int error = errno;
        sigset_t pending;
        sigpending(&pending);
        if (!was_pending_ && sigismember(&pending, SIGXFSZ) == 1) {
            const sigset_t set = size_signal();
            const timespec none{0, 0};
            sigtimedwait(&set, nullptr, &none);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    NoSizeSignal(const NoSizeSignal&) = delete;
    NoSizeSignal& operator=(const NoSizeSignal&) = delete;

private:
    static sigset_t size_signal() {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        return set;
    }
    sigset_t before_{};
    bool was_pending_ = false;
};

/// Writes all of it, or tells why not.
Status write_fully(int fd, const std::string& path, const char* data, std::int64_t bytes,
                   std::int64_t offset);

/// Syncs the data to the device, or with `all` the whole, again if a signal came between.
Status sync_file(int fd, const std::string& path, bool all = false);

/// close(2). On Linux the descriptor is gone even if a signal came between.
int close_file(int fd);

}  // namespace thalweg
