// An HDF5 file whose data are written without HDF5. HDF5 keeps the metadata: it is told the places
// of the data, and never sees them. Its changes stay in memory until commit(), which writes them in
// such an order that a reader finds a consistent file at any moment. Must be used by one thread, as
// HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/netcdf4/index/hdf5_changes.hpp"
#include "storage/netcdf4/index/hdf5_driver.hpp"

namespace thalweg::detail {

/// Bytes [begin, end) of a file that are free for metadata.
struct Room {
    std::int64_t begin = 0, end = 0;
};

/// Returns a free range of at least `bytes` bytes; each call returns another one.
using NextRoom = std::function<Room(std::int64_t bytes)>;

/// Returns ranges one after another, from `end` on.
/// @param end  the end of the last range; must outlive the function
NextRoom rooms_from(std::int64_t& end);

class Hdf5File final : private Hdf5Driver::Calls {
public:
    /// @param next_room  provides space for metadata, and for data that HDF5 allocates without a
    ///                   preceding expect_data()
    static std::unique_ptr<Hdf5File> open(const std::string& path, NextRoom next_room,
                                          Status& status);
    /// Discards all changes since the last commit().
    ~Hdf5File() { (void)driver_.close(); }
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;

    hid_t id() const { return driver_.id(); }
    /// Returns the end of the space that HDF5 uses.
    std::int64_t end() const { return driver_.end(); }
    /// Sets the address at which HDF5 will allocate the next data.
    /// @param replaced  the chunk that these data replace. HDF5 would reuse the old chunk's space
    ///                  while readers still find the old data there; it does not if it sees the end
    ///                  of the file before that space.
    void expect_data(std::int64_t address, const StoredChunk& replaced = {}) {
        expected_ = address;
        replaced_end_ = replaced.address < 0 ? -1 : replaced.address + replaced.bytes;
    }
    /// Returns the address of HDF5's last write of data.
    std::int64_t data_address() const { return data_address_; }
    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk) {
        return driver_.locate(set, corner, chunk);
    }
    /// Copies bytes within the file.
    Status copy(std::int64_t from, std::int64_t to, std::int64_t bytes);
    /// Announces that only attributes will change from now on. HDF5 stores long attributes like
    /// data; they go to the present room for metadata, or to the end of the file.
    void write_attributes() { attributes_ = true; }

    /// Makes HDF5 reopen the file, so that it forgets the space that it has freed. Uncommitted
    /// changes are kept. All handles in the file must be closed.
    Status reopen();

    /// Writes all changes of the metadata.
    /// @param durable  sync the changes; after a power failure, redo() completes them
    Status commit(bool durable);
    /// Writes all changes within as short a time as possible, as readers can see some of them
    /// before the others. If the run is killed meanwhile, bytes saved at the end of the file allow
    /// undo() to revert all of them (undo.hpp).
    /// @param shorter  the file loses data, so references to these data must go first
    Status commit_together(bool durable, bool shorter);
    /// Commits all changes and closes the file. All handles in it must be closed before.
    Status close(bool durable);

private:
    Hdf5File(const std::string& path, NextRoom next_room)
        : path_(path),
          next_room_(std::move(next_room)),
          changes_(path_, fd_),
          driver_(*this, path) {}
    std::int64_t size() const override;
    std::int64_t end_for(H5FD_mem_t type, std::int64_t end) const override {
        return type == H5FD_MEM_DRAW && replaced_end_ >= 0 ? replaced_end_ : end;
    }
    bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) override;
    bool write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes,
               const char* from) override;
    std::int64_t allocate(H5FD_mem_t type, std::int64_t bytes) override;
    std::string trouble() const override { return trouble_; }
    /// Tests if HDF5 writes elements of a data set. The library writes elements without HDF5.
    bool is_data(H5FD_mem_t type) const { return type == H5FD_MEM_DRAW && !attributes_; }
    Status flush();

    std::string path_;
    NextRoom next_room_;
    Descriptor fd_;
    Room room_;
    std::int64_t expected_ = -1, data_address_ = -1;
    std::int64_t data_end_ = 0;       ///< end of all data that HDF5 has been told of
    std::int64_t replaced_end_ = -1;  ///< end of the data that HDF5 is about to free
    bool attributes_ = false;         ///< only attributes change from now on
    std::string trouble_;             ///< the system's error text for a read that failed
    Hdf5Changes changes_;
    Hdf5Driver driver_;
};

}  // namespace thalweg::detail
