// SPDX-License-Identifier: Apache-2.0
#include "publish/committed.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "publish/checksums.hpp"
#include "storage/netcdf4/index/superblock.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/posix/system.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

/// Inspects a netCDF-4 file. The file has a superblock even if its run was killed before the
/// definitions were complete.
Status find_netcdf4(const std::string& path, const Superblock& superblock, Committed& found) {
    found.size = superblock.end;
    if (found.size < 0)
        return failure(TW_EFORMAT, "{}: not a netCDF-4 file: unexpected HDF5 superblock", path);
    if (found.size <= superblock.at || found.size > found.actual)
        return failure(TW_EFORMAT, "{}: truncated inside its definitions or data: {} of {} bytes",
                       path, found.actual, found.size);
    Netcdf4Records records;
    const Status status = check_netcdf4_whole(path, found.size, records);
    found.has_records = records.any;
    found.records = records.longest;
    found.shortest = records.shortest;
    return status;
}

Status find_classic(int fd, const std::string& path, Committed& found) {
    ClassicHeader header;
    std::vector<char> bytes;
    if (Status status = read_classic_header(fd, path, bytes, header); !status.ok()) return status;
    // Get the size after the header, so that it includes all records that the header counts.
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    found.actual = info.st_size;
    found.format = header.format;
    found.has_records = header.has_records();
    // Counted records can be missing after a power failure, but not after a killed run.
    if (found.has_records) {
        found.records = found.shortest = header.records_within(info.st_size);
        found.lost = header.records - found.records;
    }
    found.size = header.map.size(found.records);
    return {};
}

Status find_store(const std::string& path, Committed& found) {
    ZarrContents contents;
    Status status = read_contents(*make_serial_comm(), path, 0, contents);
    found.format = Format::zarr;
    found.has_records = contents.definitions.record_dim() >= 0;
    found.records = found.shortest = contents.records;
    return status;
}

Status find_open(int fd, const std::string& path, Committed& found) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return system_failure(path, "cannot read");
    }
    found.actual = info.st_size;
    Superblock superblock;
    if (Status status = find_superblock(fd, path, superblock); !status.ok()) return status;
    found.netcdf4 = superblock.at >= 0;
    return found.netcdf4 ? find_netcdf4(path, superblock, found) : find_classic(fd, path, found);
}

}  // namespace

Status find_committed(const std::string& path, Committed& found) {
    found = {};
    if (is_zarr_store(path)) return find_store(path, found);
    ReadFile file(path);
    if (Status status = file.open(); !status.ok()) return status;
    return catch_errors([&] { return find_open(file.fd(), path, found); });
}

bool lacks_records(const std::string& path) {
    Committed found;
    return find_committed(path, found).ok() && found.has_records && found.records == 0 &&
           found.lost == 0 && logged_records(path) <= 0;
}

std::vector<std::string> sorted_by_records(const std::vector<std::string>& paths) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>> sorted;
    for (const std::string& path : paths) {
        std::int64_t most = -1;
        std::vector<std::string> files = files_at(path);
        if (files.empty()) files.push_back(path);
        for (const std::string& file : files)
            if (Committed found; find_committed(file, found).ok())
                most = std::max({most, found.records, logged_records(file)});
        struct stat info {};
        (void)stat(path.c_str(), &info);
        sorted.emplace_back(most, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, path);
    }
    std::ranges::sort(sorted);
    std::vector<std::string> result;
    for (auto& entry : sorted) result.push_back(std::move(std::get<3>(entry)));
    return result;
}

}  // namespace thalweg::detail
