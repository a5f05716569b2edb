// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/undo.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/hash.hpp"
#include "base/wire.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::array<char, 16> mark{'t', 'h', 'a', 'l', 'w', 'e', 'g', ' ',
                                    'u', 'n', 'd', 'o', ' ', '1', '\n'};

/// The last bytes of a file that contains saved bytes.
struct Trailer {
    std::int64_t begin = 0;      ///< offset of the first saved byte
    std::int64_t size = 0;       ///< size of the file before the change
    std::int64_t places = 0;     ///< number of ranges that were saved
    std::uint64_t checksum = 0;  ///< checksum of the saved bytes
    std::array<char, 16> mark{};
};

std::uint64_t checksum_of(std::span<const char> bytes) {
    return hash_of({bytes.data(), bytes.size()});
}

/// Tests if the file ends with a complete trailer.
bool find_trailer(int fd, Trailer& trailer) {
    struct stat info {};
    const std::int64_t bytes = sizeof trailer;
    if (fstat(fd, &info) != 0 || info.st_size < bytes) return false;
    if (pread(fd, &trailer, sizeof trailer, info.st_size - bytes) != bytes) return false;
    return trailer.mark == mark && trailer.places >= 0 && trailer.size >= 0 &&
           trailer.begin >= trailer.size && trailer.begin <= info.st_size - bytes;
}

/// Reads the saved bytes.
/// @param whole  false if the saved bytes are incomplete; the change had not begun then
Status read_saved(int fd, const std::string& path, const Trailer& trailer,
                  std::vector<SavedBytes>& saved, bool& whole) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    std::vector<char> bytes(info.st_size - std::int64_t(sizeof trailer) - trailer.begin);
    Status status = read_fully(fd, path, bytes.data(), std::ssize(bytes), trailer.begin);
    if (!status.ok()) return status;
    whole = checksum_of(bytes) == trailer.checksum;
    if (!whole) return {};
    WireReader in(bytes);
    for (std::int64_t i = 0; i < trailer.places; ++i) {
        SavedBytes place;
        place.address = in.get<std::int64_t>();
        place.bytes = in.get_many<std::vector<char>>();
        saved.push_back(std::move(place));
    }
    return {};
}

Status put_back(int fd, const std::string& path, bool& undone) {
    std::vector<SavedBytes> saved;
    Trailer trailer;
    if (!find_trailer(fd, trailer)) return {};
    Status status = read_saved(fd, path, trailer, saved, undone);
    for (const SavedBytes& place : saved)
        if (status.ok())
            status =
                write_fully(fd, path, place.bytes.data(), std::ssize(place.bytes), place.address);
    if (status.ok()) status = sync_file(fd, path);
    if (!status.ok()) return status;
    status = set_file_size(fd, path, trailer.size);
    return status.ok() ? sync_file(fd, path) : status;
}

}  // namespace

Status write_undo(int fd, const std::string& path, std::int64_t at, std::int64_t size,
                  std::span<const SavedBytes> saved) {
    WireWriter out;
    for (const SavedBytes& place : saved) {
        out.put(place.address);
        out.put(place.bytes);
    }
    Trailer trailer;
    trailer.begin = at;
    trailer.size = size;
    trailer.places = std::ssize(saved);
    trailer.checksum = checksum_of(out.bytes);
    trailer.mark = mark;
    out.put(trailer);
    return write_fully(fd, path, out.bytes.data(), std::ssize(out.bytes), at);
}

bool has_undo(int fd) {
    Trailer trailer;
    return find_trailer(fd, trailer);
}

bool has_undo(const std::string& path) {
    ReadFile file(path);
    return file.open().ok() && has_undo(file.fd());
}

Status undo(const std::string& path, bool& undone) {
    undone = false;
    if (!has_undo(path)) return {};
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return system_failure(path, "cannot open for writing");
    Status status = alone([&] { return put_back(fd, path, undone); });
    ::close(fd);
    return status;
}

}  // namespace thalweg::detail
