// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace thalweg::detail {

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

Status cannot_create(const std::string& path) {
    const int error = errno;
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
    struct stat info {};
    if (error == ENOENT && stat(folder.c_str(), &info) != 0 && errno == ENOENT)
        return failure(TW_EIO, "{}: the folder {} does not exist", OfFile{path},
                       folder.substr(0, folder.size() - 1));
    errno = error;
    return system_failure(path, "cannot create");
}

Status with_cause(Status status) {
    if (status.ok()) return status;
    // Open as many descriptors as a library opens at a time. The library has closed its own by now.
    std::array<int, 4> files{};
    int error = 0;
    for (int& fd : files) {
        fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd < 0) error = errno;
    }
    for (const int fd : files)
        if (fd >= 0) ::close(fd);
    if (error != EMFILE && error != ENFILE) return status;
    status.code = TW_EIO;
    reword(status, "{}: {}", status.text, system_words(error));
    return status;
}

std::int64_t read_some(int fd, char* to, std::int64_t bytes, std::int64_t offset) {
    std::int64_t done = 0;
    while (done < bytes) {
        const ssize_t n = pread(fd, to + done, bytes - done, offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += n;
    }
    return done;
}

Status read_fully(int fd, const std::string& path, char* to, std::int64_t bytes,
                  std::int64_t offset) {
    const std::int64_t n = read_some(fd, to, bytes, offset);
    if (n == bytes) return {};
    if (n < 0)
        return system_failure(path,
                              fmt::format("cannot read {} bytes at offset {}", bytes, offset));
    return failure(TW_EIO, "{}: the file is truncated: it ends before byte {}", OfFile{path},
                   offset + bytes);
}

Status write_fully(int fd, const std::string& path, std::span<iovec> parts, std::int64_t offset) {
    IgnoreSigxfsz guard;
    std::size_t left = 0;
    for (const iovec& part : parts) left += part.iov_len;
    while (left > 0) {
        const ssize_t n = parts.size() == 1
                              ? pwrite(fd, parts[0].iov_base, parts[0].iov_len, offset)
                              : pwritev(fd, parts.data(), static_cast<int>(parts.size()), offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (n == 0) errno = ENOSPC;
            return system_failure(path,
                                  fmt::format("cannot write {} bytes at offset {}", left, offset));
        }
        offset += n;
        left -= n;
        for (std::size_t gone = n; gone > 0;) {
            iovec& first = parts.front();
            const std::size_t some = std::min(gone, first.iov_len);
            first = part_of(static_cast<const char*>(first.iov_base) + some, first.iov_len - some);
            gone -= some;
            if (first.iov_len == 0) parts = parts.subspan(1);
        }
    }
    return {};
}

Status write_fully(int fd, const std::string& path, const char* data, std::int64_t bytes,
                   std::int64_t offset) {
    iovec part = part_of(data, bytes);
    return write_fully(fd, path, {&part, 1}, offset);
}

Status read_file(const std::string& path, std::vector<char>& bytes) {
    return with_file(path, O_RDONLY, [&](int fd) {
        struct stat info {};
        if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
        bytes.resize(info.st_size);
        return read_fully(fd, path, bytes.data(), info.st_size, 0);
    });
}

Status write_file(const std::string& path, const std::vector<char>& bytes) {
    return with_file(path, O_WRONLY | O_CREAT | O_TRUNC, [&](int fd) {
        return write_fully(fd, path, bytes.data(), std::ssize(bytes), 0);
    });
}

bool has_space(int fd, int mode, std::int64_t offset, std::int64_t bytes) {
    const IgnoreSigxfsz guard;
    return fallocate(fd, mode, offset, bytes) == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

Status set_file_size(int fd, const std::string& path, std::int64_t bytes) {
    const IgnoreSigxfsz guard;
    while (ftruncate(fd, bytes) != 0)
        if (errno != EINTR)
            return system_failure(path, fmt::format("cannot set its size to {} bytes", bytes));
    return {};
}

Status sync_file(int fd, const std::string& path, bool all) {
    while ((all ? fsync(fd) : fdatasync(fd)) != 0)
        if (errno != EINTR) return system_failure(path, "cannot sync");
    return {};
}

Status sync_closed(const std::string& path) {
    return with_file(path, O_RDWR, [&](int fd) { return sync_file(fd, path, true); });
}

int close_file(int fd) {
    const int result = ::close(fd);
    return result != 0 && errno == EINTR ? 0 : result;
}

}  // namespace thalweg::detail
