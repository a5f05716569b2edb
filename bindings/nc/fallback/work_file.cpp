// SPDX-License-Identifier: Apache-2.0
#include "nc/fallback/work_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <netcdf.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/system/ignore_sigxfsz.hpp"

namespace thalweg::nc {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(int number, const std::string& path, const std::string& what) {
    throw Error{number, path + ": " + what + ": " + std::strerror(number)};
}

class Descriptor {
public:
    Descriptor(const std::string& path, int flags, mode_t mode = 0)
        : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return fd_; }
    int close() { return ::close(std::exchange(fd_, -1)); }

private:
    int fd_;
};

// Copies a file. Returns 0, or the system's error. The copy shares its data with the original if
// the file system supports this.
int copy(int from, int to) {
    if (ioctl(to, FICLONE, from) == 0) return 0;
    std::vector<char> buffer(4 << 20);
    for (;;) {
        const ssize_t n = ::read(from, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : 0;
        for (ssize_t done = 0; done < n;) {
            const ssize_t part =
                ::write(to, buffer.data() + done, static_cast<std::size_t>(n - done));
            if (part < 0 && errno == EINTR) continue;
            if (part < 0) return errno;
            done += part;
        }
    }
}

}  // namespace

WorkFile::WorkFile(const std::string& name, Begin begin, Lock lock) {
    std::error_code error;
    // Resolve symbolic links, so that this is the path of the file itself.
    const fs::path file = fs::weakly_canonical(name, error);
    if (error) throw Error{error.value(), name + ": " + error.message()};
    name_ = file.string();
    path_ = begin == Begin::in_place ? name_ : name_ + ".new";
    lock_path_ = (file.parent_path() / ("." + file.filename().string() + ".lock")).string();
    if (lock == Lock::take) take_lock();
    try {
        if (begin != Begin::in_place) make(begin);
    } catch (const Error&) {
        unlock();
        throw;
    }
}

WorkFile::~WorkFile() {
    if (!in_place()) ::unlink(path_.c_str());
    unlock();
}

void WorkFile::make(Begin begin) const {
    const detail::IgnoreSigxfsz guard;
    struct stat info {};
    const bool exists = ::stat(name_.c_str(), &info) == 0;
    Descriptor to(path_, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (to < 0) fail(errno, path_, "cannot be created");
    int failed = 0;
    if (exists && ::fchmod(to, info.st_mode & 07777) != 0) failed = errno;
    if (begin == Begin::copy) {
        Descriptor from(name_, O_RDONLY);
        failed = from < 0 ? errno : copy(from, to);
    } else if (exists && ::unlink(name_.c_str()) != 0) {
        failed = errno;
    }
    if (to.close() != 0 && failed == 0) failed = errno;
    if (failed == 0) return;
    ::unlink(path_.c_str());
    fail(failed, name_, begin == Begin::copy ? "cannot be copied" : "cannot be replaced");
}

void WorkFile::publish() {
    if (!in_place() && ::rename(path_.c_str(), name_.c_str()) != 0)
        fail(errno, path_, "cannot be renamed");
    path_ = name_;
}

void WorkFile::take_lock() {
    for (;;) {
        lock_ = ::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (lock_ < 0) fail(errno, name_, "cannot create its lock file " + lock_path_);
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        if (::fcntl(lock_, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
            ::close(std::exchange(lock_, -1));
            throw Error{NC_EPERM, name_ + ": another program is writing it (lock " + lock_path_ +
                                      "), or this one through another handle"};
        }
        // The last owner may have removed the lock file before this process locked it.
        struct stat mine {
        }, there{};
        if (::fstat(lock_, &mine) == 0 && ::lstat(lock_path_.c_str(), &there) == 0 &&
            mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
            break;
        ::close(std::exchange(lock_, -1));
    }
    char host[256] = "unknown";
    ::gethostname(host, sizeof host - 1);
    const std::string owner = "thalweg " + std::string(host) + " " + std::to_string(getpid());
    // Ignore errors: the text is only information for users.
    if (::ftruncate(lock_, 0) == 0) (void)!::write(lock_, owner.data(), owner.size());
}

void WorkFile::unlock() {
    if (lock_ < 0) return;
    ::unlink(lock_path_.c_str());
    ::close(std::exchange(lock_, -1));
}

}  // namespace thalweg::nc
