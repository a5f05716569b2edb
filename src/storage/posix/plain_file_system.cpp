// The system calls of plain files.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "storage/posix/plain_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

Status PlainFile::open_file() {
    fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    return fd < 0 ? system_failure(path, "cannot open for writing") : Status{};
}

Status PlainFile::close_file() {
    IgnoreSigxfsz guard;
    Status status;
    if (fd >= 0 && detail::close_file(fd.release()) != 0)
        status = system_failure(path, "cannot close");
    return status;
}

Status PlainFile::sync() {
    const Span span("sync");
    return fd >= 0 ? sync_file(fd, path) : Status{};
}

Status PlainFile::write(std::span<const Chunk> chunks) {
    Stopwatch watch(counts_.seconds);
    Status status = need_file();
    return status.ok() ? write_chunks(chunks) : status;
}

Status PlainFile::write_bytes(std::span<iovec> parts, [[maybe_unused]] std::int64_t bytes,
                              std::int64_t at) {
    return write_fully(fd, path, parts, at);
}

Status PlainFile::read_range(std::int64_t offset, std::int64_t bytes, char* to) const {
    const std::int64_t n = read_some(fd, to, bytes, in_file(offset));
    if (n < 0) return system_failure(path, "cannot read");
    std::memset(to + n, 0, bytes - n);
    return {};
}

}  // namespace thalweg::detail
