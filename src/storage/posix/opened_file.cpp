// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/opened_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/work.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t second = 1'000'000'000;

struct Looked {
    OpenedFile file;
    std::int64_t changed = 0;
};

std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * second + time.tv_nsec;
}

/// Returns the time of the clock with which the kernel stamps files: later changes get this time or
/// a later one. Other clocks are finer, and may be some milliseconds ahead.
std::int64_t file_clock() {
    timespec time{};
#ifdef CLOCK_REALTIME_COARSE
    clock_gettime(CLOCK_REALTIME_COARSE, &time);
#else
    clock_gettime(CLOCK_REALTIME, &time);
#endif
    return nanoseconds(time);
}

Status look(int fd, const std::string& path, Looked& at) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot be examined");
    at.file.inode = info.st_ino;
    at.changed = nanoseconds(info.st_ctim);
#ifdef STATX_BTIME
    // Get the creation time, too: inode numbers are reused after a file was removed.
    struct statx more {};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME) != 0)
        at.file.born = std::int64_t{more.stx_btime.tv_sec} * second + more.stx_btime.tv_nsec;
#endif
    return {};
}

}  // namespace

Status note_opened(int fd, const std::string& path, OpenedFile& found) {
    Looked at;
    Status status = look(fd, path, at);
    found = at.file;
    found.found = file_clock();
    return status;
}

Status check_opened(int fd, const std::string& path, const OpenedFile& expected) {
    Looked at;
    if (Status status = look(fd, path, at); !status.ok()) return status;
    if (at.file.inode == expected.inode && at.file.born == expected.born) return {};
    if (at.changed < expected.found) return {};
    return failure(TW_ESTATE,
                   "{}: another file has taken this name since it was opened; open it again",
                   OfFile{path});
}

Status ReadFile::open() {
    if (fd_ >= 0) return {};
    charge_open();
    // O_NONBLOCK makes open() of a pipe without a writer return at once.
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd_ < 0 ? system_failure(path_, "cannot open") : Status{};
}

Status ReadFile::open_again(const OpenedFile& expected) {
    if (fd_ >= 0) return {};
    Status status = open();
    if (status.ok()) status = check_opened(fd_, path_, expected);
    if (!status.ok()) close();
    return status;
}

}  // namespace thalweg::detail
