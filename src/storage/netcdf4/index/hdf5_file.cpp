// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "storage/netcdf4/existing.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

NextRoom rooms_from(std::int64_t& end) {
    return [&end](std::int64_t bytes) {
        const Room room{end, end + rounded(bytes, 16 * page)};
        end = room.end;
        return room;
    };
}

std::unique_ptr<Hdf5File> Hdf5File::open(const std::string& path, NextRoom next_room,
                                         Status& status) {
    std::unique_ptr<Hdf5File> file(new Hdf5File(path, std::move(next_room)));
    file->fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file->fd_ < 0) {
        status = system_failure(path, "cannot open for writing");
        return nullptr;
    }
    status = file->driver_.open(H5F_ACC_RDWR);
    if (!status.ok()) return nullptr;
    if (const std::string why = user_block_limit(file->id()); !why.empty()) {
        status = failure(TW_EUNSUPPORTED, "{}: cannot be changed: {}", OfFile{path}, why);
        return nullptr;
    }
    return file;
}

std::int64_t Hdf5File::size() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? std::max<std::int64_t>(info.st_size, driver_.end()) : -1;
}

std::int64_t Hdf5File::allocate(H5FD_mem_t type, std::int64_t bytes) {
    std::int64_t at = expected_;
    if (is_data(type)) {
        expected_ = replaced_end_ = -1;
        if (at < 0) at = rounded(next_room_(bytes).begin, 8);
    } else {
        // Place small blocks within one page: the system writes a page completely or not at all,
        // even if the process is killed.
        const auto place = [&] {
            at = rounded(room_.begin, 8);
            if (bytes <= page && at / page != (at + bytes - 1) / page) at = rounded(at, page);
            return at + bytes <= room_.end;
        };
        // HDF5 may have extended the last block of the file.
        if (attributes_ && (room_.end >= driver_.end() || !place()))
            room_ = {driver_.end(), INT64_MAX / 2};
        if (!place()) {
            room_ = next_room_(bytes + page);
            if (!place()) return -1;
        }
        room_.begin = at + bytes;
        changes_.add_fresh(at, at + bytes);
    }
    driver_.reach(at + bytes);
    return at;
}

bool Hdf5File::write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, const char* from) {
    if (is_data(type)) {
        data_address_ = address;
        // When HDF5 frees the space of a replaced chunk at the end of the file, the end becomes
        // lower, but chunks that were written before may lie behind.
        data_end_ = std::max(data_end_, address + bytes);
        driver_.reach(data_end_);
    } else {
        changes_.add(type, address, from, bytes);
    }
    return true;
}

bool Hdf5File::read(H5FD_mem_t, std::int64_t address, std::int64_t bytes, char* to) {
    return changes_.read(address, bytes, to, trouble_);
}

Status Hdf5File::flush() {
    const QuietHdf5 quiet;
    if (H5Fflush(id(), H5F_SCOPE_LOCAL) < 0) return driver_.failed("cannot write the HDF5 index");
    return driver_.healthy();
}

Status Hdf5File::commit(bool durable) {
    Status status = flush();
    return status.ok() ? changes_.write(driver_.end(), durable) : status;
}

Status Hdf5File::commit_together(bool durable, bool shorter) {
    Status status = flush();
    if (status.ok()) status = changes_.write_together(driver_.end(), durable, shorter);
    // The file now ends here, so other writers may use the rest of this space.
    if (status.ok()) room_ = {};
    return status;
}

Status Hdf5File::reopen() {
    Status status = driver_.close();
    return status.ok() ? driver_.open(H5F_ACC_RDWR) : status;
}

Status Hdf5File::close(bool durable) {
    Status status = driver_.close();
    if (status.ok()) status = changes_.write(driver_.end(), durable);
    // Remove the bytes that a failed step has left after the end.
    if (status.ok()) status = set_file_size(fd_, path_, driver_.end());
    if (close_file(fd_.release()) != 0 && status.ok())
        status = system_failure(path_, "cannot close");
    return status;
}

Status Hdf5File::copy(std::int64_t from, std::int64_t to, std::int64_t bytes) {
    std::vector<char> data(bytes);
    if (!read(H5FD_MEM_DRAW, from, bytes, data.data()))
        return failure(TW_EIO, "{}: cannot read {} bytes at offset {}: {}", OfFile{path_}, bytes,
                       from, trouble_);
    return write_fully(fd_, path_, data.data(), bytes, to);
}

}  // namespace thalweg::detail
