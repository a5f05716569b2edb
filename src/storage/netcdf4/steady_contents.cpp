// Reads the contents of a file that another program may be writing.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cmath>
#include <ctime>

#include "base/clock.hpp"
#include "storage/netcdf4/contents.hpp"

namespace thalweg::detail {

namespace {

/// Seconds within which two changes of a file can have the same modification time.
constexpr double clock_tick = 0.01;
constexpr int most_looks = 20;

double seconds_of(const timespec& t) {
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Tests if a file has changed within the last clock tick.
bool is_fresh(const struct stat& file) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::abs(seconds_of(now) - seconds_of(file.st_mtim)) < clock_tick;
}

bool same_change(const struct stat& a, const struct stat& b) {
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// Reads the contents repeatedly until the file did not change meanwhile. If it changed, HDF5 may
/// have read one part before and another part after the change.
Status look_until_steady(const ReadFile& file, const std::string& path, Netcdf4Contents& contents) {
    for (int look = 1;; ++look) {
        struct stat before {
        }, after{};
        const bool old = fstat(file.fd(), &before) == 0 && !is_fresh(before);
        Status status = read_netcdf4_contents(path, contents);
        if (status.code != TW_EFORMAT || look == most_looks) return status;
        if (old && fstat(file.fd(), &after) == 0 && same_change(before, after)) return status;
        contents = {};
        sleep_seconds(clock_tick);
    }
}

}  // namespace

Status read_steady_contents(const ReadFile& file, const std::string& path,
                            Netcdf4Contents& contents, OpenedFile& opened) {
    if (Status s = note_opened(file.fd(), path, opened); !s.ok()) return s;
    if (Status s = look_until_steady(file, path, contents); !s.ok()) return s;
    ReadFile now(path);
    return now.open_again(opened);
}

}  // namespace thalweg::detail
