// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/defined_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

Status read_header(int fd, const std::string& path, ClassicHeader& header, DefinedFile& file) {
    std::vector<char> bytes;
    if (Status status = read_classic_header(fd, path, bytes, header); !status.ok()) return status;
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    file.bytes = info.st_size;
    return parse_classic_header(bytes, info.st_size, path, header, &file.definitions);
}

}  // namespace

Status read_definitions(const std::string& path, DefinedFile& file) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return system_failure(path, "cannot open");
    ClassicHeader header;
    Status status = read_header(fd, path, header, file);
    close_file(fd);
    if (!status.ok()) return status;
    file.map = header.map;
    file.format = header.format;
    file.records = header.records;
    const auto& offsets = header.map.offset;
    const auto first = std::min_element(offsets.begin(), offsets.end());
    file.free = first == offsets.end() ? 0 : *first - header.bytes;
    return {};
}

}  // namespace thalweg::detail
