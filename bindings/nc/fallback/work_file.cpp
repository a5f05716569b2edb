// SPDX-License-Identifier: Apache-2.0
#include "nc/fallback/work_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/system/ignore_sigxfsz.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::nc {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(int number, const std::string& path, const std::string& what) {
    throw Error{number, path + ": " + what + ": " + std::strerror(number)};
}

// Copies a file. Returns 0, or the system's error. The copy shares its data with the original if
// the file system supports this.
int copy(int from, int to) {
    if (ioctl(to, FICLONE, from) == 0) return 0;
    std::vector<char> bytes(4 << 20);
    for (std::int64_t at = 0, n = 0;; at += n) {
        n = detail::read_some(from, bytes.data(), std::ssize(bytes), at);
        if (n <= 0) return n < 0 ? errno : 0;
        const detail::Status written = detail::write_fully(to, "", bytes.data(), n, at);
        if (!written.ok()) return written.place.system;
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
    std::string warning;
    if (lock == Lock::take)
        if (const detail::Status status = lock_.take(name_, false, warning); !status.ok())
            throw Error{status.place.system != 0 ? status.place.system : code_of(status.code),
                        status.text};
    if (begin != Begin::in_place) make(begin);
}

WorkFile::~WorkFile() {
    if (!in_place()) ::unlink(path_.c_str());
}

void WorkFile::make(Begin begin) const {
    const detail::IgnoreSigxfsz guard;
    struct stat info {};
    const bool exists = ::stat(name_.c_str(), &info) == 0;
    detail::Descriptor to(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (to < 0) fail(errno, path_, "cannot be created");
    int failed = 0;
    if (exists && ::fchmod(to, info.st_mode & 07777) != 0) failed = errno;
    if (begin == Begin::copy) {
        const detail::Descriptor from(::open(name_.c_str(), O_RDONLY | O_CLOEXEC));
        failed = from < 0 ? errno : copy(from, to);
    } else if (exists && ::unlink(name_.c_str()) != 0) {
        failed = errno;
    }
    if (::close(to.release()) != 0 && failed == 0) failed = errno;
    if (failed == 0) return;
    ::unlink(path_.c_str());
    fail(failed, name_, begin == Begin::copy ? "cannot be copied" : "cannot be replaced");
}

void WorkFile::publish() {
    if (!in_place() && ::rename(path_.c_str(), name_.c_str()) != 0)
        fail(errno, path_, "cannot be renamed");
    path_ = name_;
}

}  // namespace thalweg::nc
