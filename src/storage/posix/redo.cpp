// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/redo.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/posix/log_entry.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

template <class Wire>
void carry(Wire& wire, Carried<Wire, ChangedBytes> change) {
    wire(change.address, change.before, change.after);
}

namespace {

constexpr LogMark redo_mark{'t', 'h', 'a', 'l', 'w', 'e', 'g', ' ',
                            'r', 'e', 'd', 'o', ' ', '1', '\n'};

/// Number of bytes that a disk writes completely or not at all.
constexpr std::int64_t sector = 512;

/// Reads the logged changes. Leaves `changes` empty if there are none, or if they are incomplete.
Status read_changes(const std::string& path, std::vector<ChangedBytes>& changes) {
    if (access(redo_path(path).c_str(), F_OK) != 0) return {};
    std::vector<char> all;
    if (Status s = read_file(redo_path(path), all); !s.ok()) return s;
    std::span<const char> log(all);
    if (take_log_mark(log, redo_mark)) (void)take_log_entry(log, changes);
    return {};
}

/// Tests if each sector of a range has either its former or its new bytes.
bool is_old_or_new(int fd, const ChangedBytes& change) {
    const std::int64_t bytes = std::ssize(change.after);
    std::vector<char> now(bytes);
    if (pread(fd, now.data(), now.size(), change.address) != bytes) return false;
    for (std::int64_t at = 0; at < bytes;) {
        const std::int64_t n = std::min(bytes - at, sector - (change.address + at) % sector);
        if (std::memcmp(now.data() + at, change.before.data() + at, n) != 0 &&
            std::memcmp(now.data() + at, change.after.data() + at, n) != 0)
            return false;
        at += n;
    }
    return true;
}

Status change_again(int fd, const std::string& path, const std::vector<ChangedBytes>& changes) {
    for (const ChangedBytes& change : changes)
        if (!is_old_or_new(fd, change)) return {};
    for (const ChangedBytes& change : changes)
        if (Status s = write_fully(fd, path, change.after.data(), std::ssize(change.after),
                                   change.address);
            !s.ok())
            return s;
    return sync_file(fd, path);
}

}  // namespace

Status RedoLog::write(const std::vector<ChangedBytes>& changes) {
    const std::string path = redo_path(path_);
    std::vector<char> log(redo_mark.begin(), redo_mark.end());
    append_log_entry(log, changes);
    const bool fresh = fd_ < 0;
    if (fresh) fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ < 0) return system_failure(path_, "cannot create " + path);
    Status status = write_fully(fd_, path_, log.data(), std::ssize(log), 0);
    if (status.ok()) status = sync_file(fd_, path_);
    if (status.ok() && fresh) status = sync_folder_of(path_);
    if (!status.ok()) status.text += fmt::format(" (for {})", path);
    return status;
}

Status RedoLog::drop(bool durable) {
    const std::string path = redo_path(path_);
    if (fd_ < 0 && !durable) return {};  // logs of earlier runs were already removed
    fd_ = -1;
    if (unlink(path.c_str()) != 0)
        return errno == ENOENT ? Status{} : system_failure(path_, "cannot remove " + path);
    return durable ? sync_folder_of(path) : Status{};
}

Status redo(const std::string& path) {
    std::vector<ChangedBytes> changes;
    Status status = read_changes(path, changes);
    if (!status.ok() || changes.empty()) return status;
    return with_file(path, O_RDWR, [&](int fd) { return change_again(fd, path, changes); });
}

}  // namespace thalweg::detail
