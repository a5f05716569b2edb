// Changes of an HDF5 file's metadata. They stay in memory until they are written, in such an order
// that a reader finds a consistent file at any moment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "storage/netcdf4/index/hdf5_driver.hpp"
#include "storage/posix/redo.hpp"

namespace thalweg::detail {

class Hdf5Changes {
public:
    /// @param fd  descriptor of the file, once it is open. Both arguments must outlive this object
    Hdf5Changes(const std::string& path, const Descriptor& fd)
        : path_(path), fd_(fd), redo_(path) {}

    /// Adds a change, which replaces the overlapping parts of older changes: HDF5 may have freed
    /// space and allocated it again with other boundaries.
    void add(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes);
    /// Notes that nothing in the file points to the bytes [begin, end) before the next write.
    void add_fresh(std::int64_t begin, std::int64_t end) { fresh_[begin] = end; }
    /// Reads bytes of the file as they will be after the changes. Beyond the end, they are zero.
    /// @param trouble  receives the system's error text
    bool read(std::int64_t address, std::int64_t bytes, char* to, std::string& trouble) const;

    /// Writes all changes.
    /// @param end      end of the file that HDF5 expects
    /// @param durable  sync the changes; after a power failure, redo() completes them
    Status write(std::int64_t end, bool durable);
    /// Writes all changes within as short a time as possible; see Hdf5File::commit_together(). The
    /// file then ends at `end`.
    Status write_together(std::int64_t end, bool durable, bool shorter);

private:
    struct Change {
        H5FD_mem_t type;
        std::vector<char> bytes;
    };
    /// A change, and its rank in the order of writes.
    struct Pending {
        int order;
        std::int64_t address;
        const Change* change;
    };
    bool is_fresh(std::int64_t address) const;
    Status extend(std::int64_t end) const;
    Status write_fresh(std::int64_t end, bool shorter, std::vector<Pending>& others) const;
    Status write_in_order(std::span<const Pending> order) const;
    Status write_span(std::int64_t begin, std::int64_t end) const;
    Status log(std::span<const Pending> order);
    Status read_former(const Pending& pending, std::vector<char>& bytes) const;
    void clear() { changes_.clear(), fresh_.clear(); }

    const std::string& path_;
    const Descriptor& fd_;
    std::map<std::int64_t, Change> changes_;  ///< sorted by address, without overlaps
    std::map<std::int64_t, std::int64_t>
        fresh_;  ///< end of each range of add_fresh(), by its begin
    RedoLog redo_;
};

}  // namespace thalweg::detail
