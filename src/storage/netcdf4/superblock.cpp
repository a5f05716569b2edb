// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/superblock.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
using Bytes = std::array<char, 52>;

/// Reads bytes of a file. Bytes past its end are set to 0.
Status read_some(int fd, const std::string& path, std::int64_t at, Bytes& bytes) {
    bytes = {};
    for (std::size_t have = 0; have < bytes.size();) {
        const ssize_t n = pread(fd, bytes.data() + have, bytes.size() - have,
                                at + static_cast<std::int64_t>(have));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_failure(path, "cannot read");
        if (n == 0) break;
        have += static_cast<std::size_t>(n);
    }
    return {};
}

/// Returns the end of the file according to a superblock of version 0 to 3. The superblock contains
/// a base address and the end relative to that address. Its own offset can differ from the base
/// address, because a user block may have been inserted later.
std::int64_t end_of(const Bytes& superblock, std::int64_t at) {
    constexpr std::size_t version = 8, offset_bytes_before_2 = 13, offset_bytes = 9;
    const char v = superblock[version];
    if (v < 0 || v > 3 || superblock[v < 2 ? offset_bytes_before_2 : offset_bytes] != 8) return -1;
    const std::size_t base_at = v == 0 ? 24 : v == 1 ? 28 : 12;
    std::int64_t base = 0, end = 0;
    std::memcpy(&base, superblock.data() + base_at, sizeof base);
    std::memcpy(&end, superblock.data() + base_at + 16, sizeof end);
    const bool possible = base >= 0 && end > base && end - base <= INT64_MAX - at;
    return possible ? end - base + at : 0;
}

}  // namespace

Status find_superblock(int fd, const std::string& path, Superblock& found) {
    found = {};
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    if (!S_ISREG(info.st_mode)) return {};
    constexpr std::int64_t first_block = 512;
    for (std::int64_t at = 0; at < std::max<std::int64_t>(info.st_size, 1);
         at = std::max(2 * at, first_block)) {
        Bytes bytes{};
        if (Status status = read_some(fd, path, at, bytes); !status.ok()) return status;
        const std::string_view begin(bytes.data(), signature.size());
        if (at == 0 && begin.substr(0, 3) == "CDF") return {};
        if (begin != signature) continue;
        found = {at, end_of(bytes, at)};
        return {};
    }
    return {};
}

}  // namespace thalweg::detail
