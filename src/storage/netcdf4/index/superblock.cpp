// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/superblock.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
using Bytes = std::array<char, 52>;

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
        Bytes bytes{};  // bytes past the end of the file stay 0
        if (read_some(fd, bytes.data(), std::ssize(bytes), at) < 0)
            return system_failure(path, "cannot read");
        const std::string_view begin(bytes.data(), signature.size());
        if (at == 0 && begin.substr(0, 3) == "CDF") return {};
        if (begin != signature) continue;
        found = {at, end_of(bytes, at)};
        return {};
    }
    return {};
}

}  // namespace thalweg::detail
