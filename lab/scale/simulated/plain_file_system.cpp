// Plain files in a simulation: in place of src/storage/posix/plain_file_system.cpp. The file
// exists, with its header and full size; the time of writing is simulated. Data are written only
// with SCALE_DATA=keep.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "base/clock.hpp"
#include "file_system.hpp"
#include "storage/posix/plain_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Returns the ranges that each file has collected during a write().
std::map<const PlainFile*, scale::Batch>& batches() {
    static std::map<const PlainFile*, scale::Batch> all;
    return all;
}

}  // namespace

Status PlainFile::open_file() {
    scale::ask_metadata();
    fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    return fd < 0 ? system_failure(path, "cannot open for writing") : Status{};
}

Status PlainFile::close_file() {
    if (fd >= 0) scale::ask_metadata();
    fd = -1;
    return {};
}

Status PlainFile::sync() {
    if (fd >= 0) scale::ask_server();
    return {};
}

Status PlainFile::write(std::span<const Chunk> chunks) {
    Stopwatch watch(counts_.seconds);
    batches()[this] = {};
    Status status = need_file();
    if (status.ok()) status = write_chunks(chunks);
    const auto batch = batches().extract(this);
    if (status.ok()) scale::write_batch(path, batch.mapped());
    return status;
}

Status PlainFile::write_bytes(std::span<iovec> parts, std::int64_t bytes, std::int64_t at) {
    scale::add_range(path, batches()[this], at, bytes);
    return scale::keeps_data() ? write_fully(fd, path, parts, at) : Status{};
}

Status PlainFile::read_range(std::int64_t offset, std::int64_t bytes, char* to) const {
    const Status status = read_fully(fd, path, to, bytes, offset);
    scale::Batch batch;
    scale::add_range(path, batch, offset, bytes);
    scale::read_batch(path, batch);
    return status;
}

}  // namespace thalweg::detail
