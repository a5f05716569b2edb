// Functions of the operating system that the drivers use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/system/ignore_sigxfsz.hpp"
#include "base/system/system_words.hpp"

namespace thalweg::detail {

/// A file descriptor that is closed with this object; -1: none.
class Descriptor {
public:
    Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    operator int() const { return fd_; }
    /// Returns the descriptor, which the caller must close.
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

/// Returns this machine's name.
std::string host_name();

/// Returns an error with the system's text for errno.
inline Status system_failure(const std::string& path, const std::string& what) {
    const int error = errno;
    return failure(TW_EIO, "{}: {}: {}", OfFile{path}, what, OfSystem{system_words(error), error});
}

/// Returns the error for a file that cannot be created, with the reason in errno.
Status cannot_create(const std::string& path);

/// Adds to the error of a library that this process has too many open files, if that is the cause.
Status with_cause(Status status);

/// Reads `bytes` bytes, or fewer at the end of the file.
/// @return number of bytes read; -1: errno says why they cannot be read
std::int64_t read_some(int fd, char* to, std::int64_t bytes, std::int64_t offset);

/// Reads `bytes` bytes; a shorter read is an error.
Status read_fully(int fd, const std::string& path, char* to, std::int64_t bytes,
                  std::int64_t offset);

/// Describes bytes that a system call writes.
inline iovec part_of(const char* data, std::size_t bytes) {
    return {const_cast<char*>(data), bytes};
}

/// Writes parts, which it changes, one after another to a range of a file; a shorter write is an
/// error.
Status write_fully(int fd, const std::string& path, std::span<iovec> parts, std::int64_t offset);

/// Writes `bytes` bytes; a shorter write is an error.
Status write_fully(int fd, const std::string& path, const char* data, std::int64_t bytes,
                   std::int64_t offset);

/// Reads all bytes of a file.
Status read_file(const std::string& path, std::vector<char>& bytes);

/// Creates a file, or replaces its contents.
Status write_file(const std::string& path, const std::vector<char>& bytes);

/// Reserves space by fallocate(2). Returns false if the disk is full; true also if the file system
/// does not support the call.
bool has_space(int fd, int mode, std::int64_t offset, std::int64_t bytes);

/// Sets the size of a file. Repeats the call if a signal interrupts it.
Status set_file_size(int fd, const std::string& path, std::int64_t bytes);

/// Syncs the data of a file to the device; if `all` is true, also its metadata. Repeats the call if
/// a signal interrupts it.
Status sync_file(int fd, const std::string& path, bool all = false);

/// Syncs data and metadata of a file that this process has written and closed.
Status sync_closed(const std::string& path);

/// Closes a descriptor. Linux closes a descriptor even if a signal interrupts the call, so the call
/// is not repeated.
int close_file(int fd);

/// Opens a file, passes its descriptor to act(), and closes it.
/// @param flags  of open(2); a file that is created gets the usual permissions
/// @return TW_OK, TW_EIO, or the failure of act()
template <class Act>
Status with_file(const std::string& path, int flags, Act&& act) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (fd < 0)
        return (flags & O_CREAT) != 0 ? cannot_create(path)
                                      : system_failure(path, (flags & O_ACCMODE) == O_RDONLY
                                                                 ? "cannot open"
                                                                 : "cannot open for writing");
    const IgnoreSigxfsz guard;
    Status status = act(fd);
    if (close_file(fd) != 0 && status.ok()) status = system_failure(path, "cannot close");
    return status;
}

}  // namespace thalweg::detail
