// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/header.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/classic/header_writer.hpp"
#include "storage/posix/redo.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Writes the first bytes of a file; `mode` is combined with the flags of open(2).
Status write_header(const std::string& path, int mode, const std::vector<char>& bytes) {
    return with_file(path, O_WRONLY | mode, [&](int fd) {
        Status status = write_fully(fd, path, bytes.data(), bytes.size(), 0);
        if (!status.ok()) status.text += " (header)";
        return status;
    });
}

/// Syncs a file, and logs its new header so that redo() can complete the header after a power
/// failure.
Status keep_header(const std::string& path, const std::vector<char>& bytes, RedoLog& log) {
    if (Status status = sync_closed(path); !status.ok()) return status;
    return with_file(path, O_RDONLY, [&](int fd) {
        ChangedBytes change{0, std::vector<char>(bytes.size()), bytes};
        const auto n = pread(fd, change.before.data(), bytes.size(), 0);
        // Without data, a power failure has nothing to destroy.
        return n == std::ssize(bytes) ? log.write({change}) : Status{};
    });
}

/// Moves the data from byte `begin` to the end of the file by `by` bytes. Starts with the last
/// bytes, so that nothing is overwritten before it was moved.
Status move_data(int fd, const std::string& path, std::int64_t begin, std::int64_t by) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    if (info.st_size <= begin) return {};
    // Reserve the space before moving anything: otherwise a full disk would leave the data half
    // moved.
    if (!has_space(fd, 0, info.st_size, by))
        return system_failure(path, fmt::format("cannot make room for {} bytes of attributes", by));
    std::vector<char> piece(std::size_t(8) << 20);
    Status status;
    for (std::int64_t end = info.st_size; end > begin && status.ok();) {
        const std::int64_t n = std::min(end - begin, std::ssize(piece));
        end -= n;
        status = read_fully(fd, path, piece.data(), n, end);
        if (status.ok()) status = write_fully(fd, path, piece.data(), n, end + by);
    }
    return status;
}

/// Writes a header that is longer than the space before the data: first moves the data to make
/// space.
Status move_and_write(const std::string& path, std::int64_t begin, std::int64_t by,
                      const std::vector<char>& bytes) {
    return with_file(path, O_RDWR, [&](int fd) {
        Status status = move_data(fd, path, begin, by);
        return status.ok() ? write_fully(fd, path, bytes.data(), std::ssize(bytes), 0) : status;
    });
}

Status extend(const std::string& path, std::int64_t size) {
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && info.st_size >= size) return {};
    const IgnoreSigxfsz guard;
    while (truncate(path.c_str(), size) != 0)
        if (errno != EINTR)
            return system_failure(path, fmt::format("cannot extend to {} bytes", size));
    return {};
}

Status add_attributes(const std::string& path, const Definitions& d, const FileMap& map,
                      Format format, std::int64_t records, const LateAttributes& late,
                      bool durable) {
    if (late.empty()) return {};
    Definitions all = d;
    for (const auto& [variable, attribute] : late)
        (variable < 0 ? all.attributes : all.variables[variable].attributes).set(attribute);
    std::vector<char> bytes;
    // Compose the header to get its length; the bytes are not used.
    Status status = compose_header_for(path, all, format, map, bytes);
    if (!status.ok()) return status;
    const auto first = std::min_element(map.offset.begin(), map.offset.end());
    const auto needed = std::ssize(bytes);
    const std::int64_t room = first == map.offset.end() ? needed : *first;
    const std::int64_t lacking = std::max<std::int64_t>(0, (needed - room + 3) / 4 * 4);
    FileMap made = map;
    for (std::int64_t& offset : made.offset) offset += lacking;
    status = compose_header_for(path, all, format, made, bytes);
    if (!status.ok()) return status;
    const std::vector<char> count = record_count(format, records);
    std::copy(count.begin(), count.end(), bytes.begin() + 4);
    bytes.resize(room + lacking);  // zeros overwrite the rest of a longer header
    if (lacking > 0) return move_and_write(path, room, lacking, bytes);
    RedoLog log(path);
    if (durable) status = keep_header(path, bytes, log);
    return status.ok() ? write_header(path, 0, bytes) : status;
}

}  // namespace

Status create_classic_header(const std::string& path, const Definitions& d,
                             const StorageOptions& options, bool write, FileMap& map) {
    std::vector<char> bytes;
    Status status = compose_header(path, d, options.format, options.spacing, map, bytes);
    return status.ok() && write ? write_header(path, O_CREAT | O_TRUNC, bytes) : status;
}

Status write_record_count(int fd, const std::string& path, Format format, std::int64_t records) {
    const std::vector<char> count = record_count(format, records);
    return write_fully(fd, path, count.data(), count.size(), 4);
}

Status keep_records(const std::string& path, Format format, const FileMap& map,
                    std::int64_t records, bool durable) {
    return with_file(path, O_RDWR, [&](int fd) {
        struct stat info {};
        Status status = write_record_count(fd, path, format, records);
        if (status.ok() && fstat(fd, &info) != 0)
            status = system_failure(path, "cannot get its size");
        const std::int64_t size = map.size(records);
        if (status.ok() && map.record_begin > 0 && info.st_size > size)
            status = set_file_size(fd, path, size);
        return status.ok() && durable ? sync_file(fd, path) : status;
    });
}

Status complete_classic(const std::string& path, const Definitions& d, const FileMap& map,
                        Format format, std::int64_t records, const LateAttributes& late,
                        bool durable) {
    Status status = extend(path, map.size(records));
    if (status.ok()) status = add_attributes(path, d, map, format, records, late, durable);
    return status.ok() && durable ? sync_closed(path) : status;
}

}  // namespace thalweg::detail
