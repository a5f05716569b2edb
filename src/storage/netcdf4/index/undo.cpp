// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/undo.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/posix/log_entry.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

template <class Wire>
void carry(Wire& wire, Carried<Wire, SavedBytes> place) {
    wire(place.address, place.bytes);
}

namespace {

constexpr LogMark undo_mark{'t', 'h', 'a', 'l', 'w', 'e', 'g', ' ',
                            'u', 'n', 'd', 'o', ' ', '2', '\n'};

/// The last bytes of a file that contains saved bytes, which are an entry of a log.
struct Trailer {
    std::int64_t begin = 0;  ///< offset of the entry
    std::int64_t bytes = 0;  ///< its size in bytes
    std::int64_t size = 0;   ///< size of the file before the change
    LogMark mark{};
};

/// Tests if the file ends with a complete trailer.
bool find_trailer(int fd, Trailer& trailer) {
    struct stat info {};
    const std::int64_t bytes = sizeof trailer;
    if (fstat(fd, &info) != 0 || info.st_size < bytes) return false;
    if (pread(fd, &trailer, sizeof trailer, info.st_size - bytes) != bytes) return false;
    return trailer.mark == undo_mark && trailer.size >= 0 && trailer.begin >= trailer.size &&
           trailer.bytes >= 0 && trailer.bytes == info.st_size - bytes - trailer.begin;
}

/// @param undone  stays false if the saved bytes are incomplete; the change had not begun then
Status put_back(int fd, const std::string& path, bool& undone) {
    std::vector<SavedBytes> saved;
    Trailer trailer;
    if (!find_trailer(fd, trailer)) return {};
    std::vector<char> bytes(trailer.bytes);
    Status status = read_fully(fd, path, bytes.data(), trailer.bytes, trailer.begin);
    std::span<const char> log(bytes);
    undone = status.ok() && take_log_entry(log, saved);
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
                  const std::vector<SavedBytes>& saved) {
    WireWriter out;
    append_log_entry(out.bytes, saved);
    out.put(Trailer{at, std::ssize(out.bytes), size, undo_mark});
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
    return with_file(path, O_RDWR, [&](int fd) { return put_back(fd, path, undone); });
}

}  // namespace thalweg::detail
