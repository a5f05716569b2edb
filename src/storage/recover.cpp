// SPDX-License-Identifier: Apache-2.0
#include "storage/recover.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "storage/classic_header.hpp"
#include "storage/header_reader.hpp"
#include "storage/system.hpp"

namespace thalweg {

namespace {

const std::string suffix = ".part";

class Descriptor {
public:
    Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return fd_; }

private:
    int fd_;
};

/// Not "does not exist": what cannot be looked at is left for open() to complain of.
bool missing(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

std::string count(std::int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

constexpr std::string_view hdf5_signature("\x89HDF\r\n\x1a\n", 8);

/// The file is what was committed: HDF5's superblock tells how far it reaches (HDF5 file format
/// specification, "Superblock", versions 2 and 3).
Status complete_hdf5(int fd, const std::string& part, const std::string& path,
                     std::span<const char> superblock, std::int64_t size, std::string& done) {
    constexpr std::size_t version = 8, offset_bytes = 9, end_of_file = 28;
    std::int64_t end = 0;
    if ((superblock[version] != 2 && superblock[version] != 3) || superblock[offset_bytes] != 8)
        return failure(TW_EFORMAT, "{}: not as netCDF-4 files are", part);
    std::memcpy(&end, superblock.data() + end_of_file, sizeof end);
    if (end < static_cast<std::int64_t>(end_of_file) || end > size)
        return failure(TW_EFORMAT,
                       "{}: ends inside its definitions, or inside its data: {} of {} "
                       "bytes",
                       part, size, end);
    NoSizeSignal guard;
    if (end != size && ftruncate(fd, end) != 0)
        return system_failure(part, fmt::format("cannot set its size to {} bytes", end));
    if (fsync(fd) != 0) return system_failure(part, "cannot sync");
    done = path + (part == path && end == size ? ", complete already" : ": netCDF-4, recovered");
    if (size > end) done += fmt::format("; {} cut off", count(size - end, "byte"));
    return {};
}

/// Gives a file the size and the record count of what was committed and is there.
Status complete(const std::string& part, const std::string& path, std::string& done) {
    const Descriptor fd(part, O_RDWR);
    if (fd < 0) return system_failure(part, "cannot open for writing");
    char begin[48] = {};
    struct stat now {};
    if (pread(fd, begin, sizeof begin, 0) == sizeof begin && fstat(fd, &now) == 0 &&
        std::string_view(begin, hdf5_signature.size()) == hdf5_signature)
        return complete_hdf5(fd, part, path, begin, now.st_size, done);
    ClassicHeader header;
    if (Status status = read_classic_header(fd, part, header); !status.ok()) return status;
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(part, "cannot look at it");

    // Only a power loss takes records that were counted: the kill of a run does not.
    const std::int64_t records = header.has_records() ? header.records_within(info.st_size) : 0;
    const std::int64_t lost = header.has_records() ? header.records - records : 0;
    const std::int64_t size = header.map.size(records);
    NoSizeSignal guard;
    if (lost > 0)
        if (Status status = write_record_count(fd, part, header.format, records); !status.ok())
            return status;
    if (size != info.st_size && ftruncate(fd, size) != 0)
        return system_failure(part, fmt::format("cannot set its size to {} bytes", size));
    if (fsync(fd) != 0) return system_failure(part, "cannot sync");

    const bool whole = part == path && lost == 0 && size == info.st_size;
    done =
        path + (header.has_records() ? ": " + count(records, "record") : ": no record variables");
    done += whole ? ", complete already" : header.has_records() ? " recovered" : ", recovered";
    if (lost > 0) done += fmt::format("; {} more had been counted, but are not there", lost);
    if (info.st_size > size)
        done += fmt::format("; {} cut off", count(info.st_size - size, "byte"));
    return {};
}

/// The rename is safe from a power loss when the folder is.
Status sync_folder(const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const Descriptor fd(folder, O_RDONLY | O_DIRECTORY);
    // EINVAL: this file system syncs no folders.
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        return system_failure(path, "renamed, but cannot sync the folder");
    return {};
}

}  // namespace

Status recover(const std::string& path, std::string& done) {
    // A path that ends in .part can be somebody's own name for a file, too.
    std::string part = path + suffix, own = path;
    if (missing(part)) {
        part = path;
        if (path.size() > suffix.size() && path.ends_with(suffix))
            own.resize(path.size() - suffix.size());
    }
    if (missing(part))
        return failure(TW_ENOTFOUND, "{}: there is neither this file nor {}{}", path, path, suffix);
    if (Status status = complete(part, own, done); !status.ok()) return status;
    if (part == own) return {};
    if (std::rename(part.c_str(), own.c_str()) != 0)
        return system_failure(part, "cannot rename to " + own);
    return sync_folder(own);
}

}  // namespace thalweg
