// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/hdf5_changes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/netcdf4/index/object_header.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/netcdf4/index/undo.hpp"
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

bool Hdf5Changes::read(std::int64_t address, std::int64_t bytes, char* to,
                       std::string& trouble) const {
    const std::int64_t n = read_some(fd_, to, bytes, address);
    if (n < 0) {
        trouble = system_words(errno);
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

void Hdf5Changes::add(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes) {
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

bool Hdf5Changes::is_fresh(std::int64_t address) const {
    const auto after = fresh_.upper_bound(address);
    return after != fresh_.begin() && address < std::prev(after)->second;
}

/// Writes the parts to which nothing points yet, and extends the file to the end that HDF5 expects.
/// @param others  receives the other changes, in the order of writes
Status Hdf5Changes::write_fresh(std::int64_t end, bool shorter,
                                std::vector<Pending>& others) const {
    IgnoreSigxfsz guard;
    if (Status status = extend(end); !status.ok()) return status;
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
Status Hdf5Changes::write_span(std::int64_t begin, std::int64_t end) const {
    std::vector<char> bytes(end - begin);
    std::string trouble;
    if (!read(begin, end - begin, bytes.data(), trouble))
        return failure(TW_EIO, "{}: cannot read {} bytes at offset {}: {}", OfFile{path_},
                       end - begin, begin, trouble);
    return write_fully(fd_, path_, bytes.data(), bytes.size(), begin);
}

/// Writes changes in the given order. Changes of lengths in the same page are written by one call.
Status Hdf5Changes::write_in_order(std::span<const Pending> order) const {
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
Status Hdf5Changes::extend(std::int64_t end) const {
    struct stat info {};
    if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot get its size");
    const char none = 0;
    return info.st_size < end ? write_fully(fd_, path_, &none, 1, end - 1) : Status{};
}

Status Hdf5Changes::write(std::int64_t end, bool durable) {
    std::vector<Pending> order;
    if (Status status = write_fresh(end, false, order); !status.ok()) return status;
    Status status = durable ? log(order) : redo_.drop(false);
    if (status.ok()) status = write_in_order(order);
    if (!status.ok()) return status;
    clear();
    return durable ? sync_file(fd_, path_) : Status{};
}

/// Syncs the file, and logs the changes of existing bytes so that redo() can complete them.
Status Hdf5Changes::log(std::span<const Pending> order) {
    if (Status status = sync_file(fd_, path_); !status.ok() || order.empty()) return status;
    std::vector<ChangedBytes> changes;
    for (const Pending& pending : order) {
        changes.push_back({pending.address, {}, pending.change->bytes});
        if (Status s = read_former(pending, changes.back().before); !s.ok()) return s;
    }
    return redo_.write(changes);
}

/// Reads the bytes that a change will replace.
Status Hdf5Changes::read_former(const Pending& pending, std::vector<char>& bytes) const {
    bytes.resize(pending.change->bytes.size());
    return read_fully(fd_, path_, bytes.data(), std::ssize(bytes), pending.address);
}

Status Hdf5Changes::write_together(std::int64_t end, bool durable, bool shorter) {
    struct stat info {};
    if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot get its size");
    std::vector<Pending> order;
    if (Status status = write_fresh(end, shorter, order); !status.ok()) return status;
    if (Status status = redo_.drop(durable); !status.ok()) return status;
    std::vector<SavedBytes> saved;
    for (const Pending& pending : order) {
        saved.push_back({pending.address, {}});
        if (Status s = read_former(pending, saved.back().bytes); !s.ok()) return s;
    }
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
    clear();
    // Truncate the file after its end, which removes the bytes saved for undo().
    Status status = set_file_size(fd_, path_, end);
    return status.ok() && durable ? sync_file(fd_, path_) : status;
}

}  // namespace thalweg::detail
