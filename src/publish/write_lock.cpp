// SPDX-License-Identifier: Apache-2.0
#include "publish/write_lock.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/system/ignore_sigxfsz.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Beginning of the lock file; host and process number follow.
constexpr std::string_view mark = "thalweg ";

/// Reads who holds a lock, without testing if that process is alive.
LockHolder read_owner(int fd) {
    std::array<char, 512> bytes{};
    const ssize_t n = pread(fd, bytes.data(), bytes.size(), 0);
    const std::string_view text(bytes.data(), n > 0 ? n : 0);
    LockHolder owner;
    if (text.empty()) return owner;
    if (!text.starts_with(mark)) {
        owner.foreign = true;
        return owner;
    }
    const auto blank = text.find(' ', mark.size());
    if (blank == std::string_view::npos) return owner;
    owner.host = text.substr(mark.size(), blank - mark.size());
    owner.process = static_cast<pid_t>(std::atoi(std::string(text.substr(blank + 1)).c_str()));
    return owner;
}

/// Writes host and process number into the lock file, for messages. This may fail, for example on a
/// full disk; the lock works without it.
/// @return false if they could not be written
bool write_owner(int fd, const std::string& host) {
    const IgnoreSigxfsz guard;
    const std::string text = fmt::format("{}{} {}\n", mark, host, getpid());
    return ftruncate(fd, 0) == 0 &&
           pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

/// Returns a lock of the whole file. Such a lock belongs to the open file, not to the process. It
/// therefore stays when the process opens and closes the file elsewhere, and excludes other
/// sessions of the same process.
struct flock whole(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

Status WriteLock::take(const std::string& own, bool in_place, std::string& said) {
    path_ = lock_path(own);
    // Largest number of attempts; each one that fails was won by another process.
    constexpr int most_tries = 100;
    for (int i = 0; i < most_tries; ++i) {
        bool again = false;
        int refused = 0;
        Status status = try_take(own, said, again, refused);
        if (again) continue;
        if (in_place && (refused == EACCES || refused == EROFS)) {
            said = fmt::format(
                "written without a lock, so other runs can write it at the same time: {}",
                status.text);
            return {};
        }
        return status;
    }
    return failure(TW_EINUSE,
                   "{}: cannot get its lock {}: other processes keep taking and releasing it", own,
                   path_);
}

/// @param again    receives true if the lock file was removed meanwhile, so that the caller must
///                 try again
/// @param refused  receives errno if the lock file cannot be created
Status WriteLock::try_take(const std::string& own, std::string& said, bool& again, int& refused) {
    const auto leave = [&](Status status) {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
        return status;
    };
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) {
        refused = errno;
        // Try to remove the lock file of another user's dead run, which the folder may permit.
        const int old = refused == EACCES ? ::open(path_.c_str(), O_RDONLY | O_CLOEXEC) : -1;
        struct flock lock = whole(F_WRLCK);
        const bool dead = old >= 0 && fcntl(old, F_OFD_GETLK, &lock) == 0 &&
                          lock.l_type == F_UNLCK && !read_owner(old).foreign;
        if (old >= 0) ::close(old);
        again = dead && unlink(path_.c_str()) == 0;
        errno = refused;
        return again ? Status{} : system_failure(own, "cannot create its lock file " + path_);
    }
    struct flock lock = whole(F_WRLCK);
    const bool taken = fcntl(fd_, F_OFD_SETLK, &lock) == 0;
    const bool held = !taken && (errno == EAGAIN || errno == EACCES);
    if (held) sleep_seconds(0.01);  // give the new owner time to write host and process
    const LockHolder owner = read_owner(fd_);
    if (owner.foreign)
        return leave(failure(
            TW_EIO, "{}: cannot use {} as its lock file: it was not created by this library", own,
            path_));
    // If the file system has no locks, the text in the lock file is the only evidence that its
    // owner is alive.
    const bool alive = !taken && !held && owner.process > 0 && owner.host == host_name() &&
                       (kill(owner.process, 0) == 0 || errno == EPERM);
    if (held || alive) {
        if (owner.process == 0)
            return leave(
                failure(TW_EINUSE, "{}: another process is writing it (lock {})", own, path_));
        return leave(failure(TW_EINUSE, "{}: process {} on host {} is writing it (lock {})", own,
                             owner.process, owner.host, path_));
    }
    if (!taken)
        said = fmt::format(
            "the file system does not support locks, so runs on other hosts can write the file at "
            "the same time ({})",
            own);
    else if (owner.process > 0 && owner.host != host_name() &&
             file_system_at(path_).sharing == Sharing::unknown)
        said = fmt::format(
            "process {} on host {} has not closed it, or is still writing it: file "
            "system {} may not show locks of other hosts ({})",
            owner.process, owner.host, file_system_at(path_).name, own);
    if (!is_at_path()) {  // the last owner has removed the file
        again = true;
        return leave({});
    }
    host_ = host_name();
    if (!write_owner(fd_, host_)) host_.clear();
    return {};
}

Status WriteLock::check_held(const std::string& own) const {
    if (fd_ < 0 || host_.empty()) return {};
    // Open the lock file again: on network file systems, contents read earlier may be out of date.
    const Descriptor fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return {};  // the user has removed the lock file
    const LockHolder owner = read_owner(fd);
    if (owner.process == 0 || (owner.host == host_ && owner.process == getpid())) return {};
    return failure(
        TW_EINUSE,
        "{}: process {} on host {} writes it, too, because the file system does not show "
        "locks of other hosts; the data of one of the two runs are lost (lock {})",
        own, owner.process, owner.host, path_);
}

LockHolder WriteLock::holder(const std::string& own) {
    const Descriptor fd =
        ::open(lock_path(own).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return {};
    struct flock lock = whole(F_WRLCK);
    const bool known = fcntl(fd, F_OFD_GETLK, &lock) == 0;
    LockHolder holder = read_owner(fd);
    if (known || holder.foreign || holder.process <= 0)
        holder.there = known && lock.l_type != F_UNLCK;
    else
        holder.there = holder.host != host_name() || kill(holder.process, 0) == 0 || errno == EPERM;
    return holder;
}

bool WriteLock::is_at_path() const {
    struct stat mine {
    }, there{};
    return fstat(fd_, &mine) == 0 && lstat(path_.c_str(), &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

void WriteLock::release() {
    if (fd_ < 0) return;
    // Remove the lock file before the lock ends: a process that has opened it meanwhile then sees
    // that it is gone.
    if (is_at_path() && check_held(path_).ok()) unlink(path_.c_str());
    ::close(std::exchange(fd_, -1));
}

}  // namespace thalweg::detail
