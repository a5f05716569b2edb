// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/netcdf4/existing.hpp"
#include "storage/netcdf4/object_header.hpp"
#include "storage/netcdf4/page.hpp"
#include "storage/netcdf4/undo.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Rank, in the order of writes, of object headers that contain a variable's length.
constexpr int lengths = 1000;
/// Returns the rank of a change in the order of writes. A reader must find either the old or the
/// new state at any moment. The order is: parts to which nothing points yet; the superblock, which
/// contains the end of the file; nodes of indices, upper ones first, since a node that was split
/// has lost its right half; object headers. Headers with the length of a variable come last,
/// because other blocks of the same header may contain the address of the index.
/// @param shorter  the variables become shorter: then headers come first and the superblock last
int order_in(H5FD_mem_t type, const std::vector<char>& bytes, bool shorter) {
    if (type == H5FD_MEM_SUPER) return shorter ? 2000 : 0;
    if (type == H5FD_MEM_OHDR) return shorter ? 100 : has_length(bytes) ? lengths : 950;
    if (type != H5FD_MEM_BTREE) return 900;
    // Offset of the level in a node of a version 1 B-tree, which begins with "TREE".
    constexpr std::size_t level = 5;
    const bool node = bytes.size() > level && std::memcmp(bytes.data(), "TREE", 4) == 0;
    return node ? 500 - static_cast<unsigned char>(bytes[level]) : 600;
}

}  // namespace

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

Hdf5File::~Hdf5File() {
    (void)driver_.close();
    if (fd_ >= 0) ::close(fd_);
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
        if (attributes_) room_ = {driver_.end(), INT64_MAX / 2};
        if (!place()) {
            room_ = next_room_(bytes + page);
            if (!place()) return -1;
        }
        room_.begin = at + bytes;
        fresh_.push_back({at, at + bytes});
    }
    driver_.reach(at + bytes);
    return at;
}

bool Hdf5File::write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, const char* from) {
    if (is_data(type))
        data_address_ = address;
    else
        change(type, address, from, bytes);
    return true;
}

bool Hdf5File::read(H5FD_mem_t, std::int64_t address, std::int64_t bytes, char* to) {
    const std::int64_t n = read_some(fd_, to, bytes, address);
    if (n < 0) {
        trouble_ = system_words(errno);
        return false;
    }
    std::memset(to + n, 0, bytes - n);
    auto it = changes_.upper_bound(address);
    if (it != changes_.begin()) --it;
    for (; it != changes_.end() && it->first < address + bytes; ++it) {
        const std::int64_t begin = std::max(address, it->first);
        const std::int64_t end =
            std::min(address + bytes, it->first + std::ssize(it->second.bytes));
        if (begin < end)
            std::memcpy(to + (begin - address), it->second.bytes.data() + (begin - it->first),
                        end - begin);
    }
    return true;
}

/// Adds a change, which replaces the overlapping parts of older changes: HDF5 may have freed space
/// and allocated it again with other boundaries.
void Hdf5File::change(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes) {
    const std::int64_t end = address + bytes;
    auto it = changes_.upper_bound(address);
    if (it != changes_.begin()) --it;
    while (it != changes_.end() && it->first < end) {
        const std::int64_t first = it->first;
        const std::int64_t last = first + std::ssize(it->second.bytes);
        if (last <= address) {
            ++it;
            continue;
        }
        Change old = std::move(it->second);
        it = changes_.erase(it);
        if (last > end)
            it = changes_.insert_or_assign(
                it, end, Change{old.type, {old.bytes.end() - (last - end), old.bytes.end()}});
        if (first < address) {
            old.bytes.resize(address - first);
            changes_[first] = std::move(old);
        }
    }
    changes_[address] = {type, {data, data + bytes}};
}

bool Hdf5File::is_fresh(std::int64_t address) const {
    return std::any_of(fresh_.begin(), fresh_.end(),
                       [&](const Room& r) { return r.begin <= address && address < r.end; });
}

/// Writes the parts to which nothing points yet, and extends the file to the end that HDF5 expects.
/// @param others  receives the other changes, in the order of writes
Status Hdf5File::write_fresh(bool shorter, std::vector<Pending>& others) {
    NoSizeSignal guard;
    if (Status status = extend(driver_.end()); !status.ok()) return status;
    for (const auto& [address, change] : changes_) {
        if (!is_fresh(address)) {
            others.push_back({order_in(change.type, change.bytes, shorter), address, &change});
            continue;
        }
        Status status = write_fully(fd_, path_, change.bytes.data(), change.bytes.size(), address);
        if (!status.ok()) return status;
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Pending& a, const Pending& b) { return a.order < b.order; });
    return {};
}

/// Writes a range with all its changes by one call. Headers in one page, and so the lengths of
/// their variables, then change together even if the process is killed.
Status Hdf5File::write_span(std::int64_t begin, std::int64_t end) {
    std::vector<char> bytes(end - begin);
    if (!read(H5FD_MEM_OHDR, begin, end - begin, bytes.data()))
        return failure(TW_EIO, "{}: cannot read {} bytes at offset {}: {}", OfFile{path_},
                       end - begin, begin, trouble_);
    return write_fully(fd_, path_, bytes.data(), bytes.size(), begin);
}

/// Writes changes in the given order. Changes of lengths in the same page are written by one call.
Status Hdf5File::write_in_order(std::span<const Pending> order) {
    for (std::size_t at = 0; at < order.size();) {
        const std::int64_t begin = order[at].address;
        const bool alone = order[at].order != lengths;
        std::int64_t end = begin;
        do {
            end = order[at].address + std::ssize(order[at].change->bytes);
            ++at;
        } while (!alone && at < order.size() && order[at].address / page == begin / page);
        if (Status status = write_span(begin, end); !status.ok()) return status;
    }
    return {};
}

/// Extends the file to the end that HDF5 expects by writing its last byte, which no other writer
/// writes. Setting the length could cut off data that other writers append meanwhile.
Status Hdf5File::extend(std::int64_t end) {
    struct stat info {};
    if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot get its size");
    const char none = 0;
    return info.st_size < end ? write_fully(fd_, path_, &none, 1, end - 1) : Status{};
}

Status Hdf5File::write_changes(bool durable) {
    std::vector<Pending> order;
    if (Status status = write_fresh(false, order); !status.ok()) return status;
    Status status = durable ? keep_changes(order) : redo_.drop(false);
    if (status.ok()) status = write_in_order(order);
    if (!status.ok()) return status;
    changes_.clear();
    fresh_.clear();
    return durable ? sync_file(fd_, path_) : Status{};
}

/// Syncs the file, and logs the changes of existing bytes so that redo() can complete them.
Status Hdf5File::keep_changes(std::span<const Pending> order) {
    if (Status status = sync_file(fd_, path_); !status.ok() || order.empty()) return status;
    std::vector<ChangedBytes> changes;
    for (const Pending& pending : order) {
        changes.push_back({pending.address, {}, pending.change->bytes});
        if (Status s = read_former(pending, changes.back().before); !s.ok()) return s;
    }
    return redo_.write(changes);
}

/// Reads the bytes that a change will replace.
Status Hdf5File::read_former(const Pending& pending, std::vector<char>& bytes) const {
    bytes.resize(pending.change->bytes.size());
    return read_fully(fd_, path_, bytes.data(), std::ssize(bytes), pending.address);
}

Status Hdf5File::write_together(bool durable, bool shorter) {
    struct stat info {};
    if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot get its size");
    std::vector<Pending> order;
    if (Status status = write_fresh(shorter, order); !status.ok()) return status;
    if (Status status = redo_.drop(durable); !status.ok()) return status;
    std::vector<SavedBytes> saved;
    for (const Pending& pending : order) {
        saved.push_back({pending.address, {}});
        if (Status s = read_former(pending, saved.back().bytes); !s.ok()) return s;
    }
    const std::int64_t end = driver_.end();
    if (!order.empty()) {
        const std::int64_t at = rounded(std::max<std::int64_t>(info.st_size, end), 8);
        Status status = write_undo(fd_, path_, at, info.st_size, saved);
        if (status.ok() && durable) status = sync_file(fd_, path_);
        if (status.ok()) status = write_in_order(order);
        if (status.ok() && durable) status = sync_file(fd_, path_);
        if (!status.ok()) {
            bool undone = false;
            (void)undo(path_, undone);
            return status;
        }
    }
    changes_.clear();
    fresh_.clear();
    // The file now ends here, so other writers may use the rest of this space.
    room_ = {};
    // Truncate the file after its end, which removes the bytes saved for undo().
    Status status = set_file_size(fd_, path_, end);
    return status.ok() && durable ? sync_file(fd_, path_) : status;
}

Status Hdf5File::flush() {
    const QuietHdf5 quiet;
    if (H5Fflush(id(), H5F_SCOPE_LOCAL) < 0) return driver_.failed("cannot write the HDF5 index");
    return driver_.healthy();
}

Status Hdf5File::commit(bool durable) {
    Status status = flush();
    return status.ok() ? write_changes(durable) : status;
}

Status Hdf5File::commit_together(bool durable, bool shorter) {
    Status status = flush();
    return status.ok() ? write_together(durable, shorter) : status;
}

Status Hdf5File::reopen() {
    Status status = driver_.close();
    return status.ok() ? driver_.open(H5F_ACC_RDWR) : status;
}

Status Hdf5File::close(bool durable) {
    Status status = driver_.close();
    if (status.ok()) status = alone([&] { return write_changes(durable); });
    // Remove the bytes that a failed step has left after the end.
    if (status.ok()) status = set_file_size(fd_, path_, driver_.end());
    if (close_file(std::exchange(fd_, -1)) != 0 && status.ok())
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
