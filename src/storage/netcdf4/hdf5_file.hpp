// A file of HDF5 whose data others write. HDF5 itself keeps the metadata: it is told where data
// lie, and never sees them. What it changes stays in memory until commit(), which writes it in such
// an order that whoever opens the file finds what was committed, at any moment in between, too.
// Must be used by one thread, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/netcdf4/hdf5_driver.hpp"

namespace thalweg::detail {

/// Bytes [begin, end) of a file that are free for metadata.
struct Room {
    std::int64_t begin = 0, end = 0;
};

/// Gives room for so many bytes or more, each time another one.
using NextRoom = std::function<Room(std::int64_t bytes)>;

class Hdf5File final : private Hdf5Driver::Calls {
public:
    /// @param next_room  for metadata, and for data that HDF5 wants to have a place before they
    ///                   are expected
    static std::unique_ptr<Hdf5File> open(const std::string& path, NextRoom next_room,
                                          Status& status);
    /// Leaves the file as it was after the last commit().
    ~Hdf5File();
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;

    hid_t id() const { return driver_.id(); }
    /// Of the space that HDF5 uses.
    std::int64_t end() const { return driver_.end(); }
    /// Where the next data lie for which HDF5 asks for room, and what they take the place of. HDF5
    /// would keep that room, and put other data there while readers of the file still find the old
    /// ones; so it is told that the file ends there, and lets go of it.
    void expect_data(std::int64_t address, const StoredChunk& replaced = {}) {
        expected_ = address;
        replaced_end_ = replaced.address < 0 ? -1 : replaced.address + replaced.bytes;
    }
    /// Where HDF5 wanted to write data last.
    std::int64_t data_address() const { return data_address_; }
    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk) {
        return driver_.locate(set, corner, chunk);
    }
    /// Copies within the file.
    Status copy(std::int64_t from, std::int64_t to, std::int64_t bytes);
    /// From now on attributes are written, and nothing else. They go to the end of the file,
    /// whatever room there is elsewhere. HDF5 takes long ones for data.
    void write_attributes() { attributes_ = true; }

    /// HDF5 opens the file anew, and forgets what room it has freed; the changes stay. All handles
    /// of it must be closed.
    Status reopen();

    /// Writes all changes of the metadata; with `durable` for good.
    Status commit(bool durable);
    /// The same for changes of which none may be seen without the others, as far as possible: a run
    /// that is killed meanwhile leaves the means to take all of them back (undo.hpp).
    /// @param shorter  the file loses data: readers must not be led to what is no longer there
    Status commit_together(bool durable, bool shorter);
    /// The same as commit(), and no more use of the file. All handles of it must be closed.
    Status close();

private:
    struct Change {
        H5FD_mem_t type;
        std::vector<char> bytes;
    };

    Hdf5File(const std::string& path, NextRoom next_room)
        : path_(path), next_room_(std::move(next_room)), driver_(*this, path) {}
    std::int64_t size() const override;
    std::int64_t end_for(H5FD_mem_t type, std::int64_t end) const override {
        return type == H5FD_MEM_DRAW && replaced_end_ >= 0 ? replaced_end_ : end;
    }
    bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) override;
    bool write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes,
               const char* from) override;
    std::int64_t allocate(H5FD_mem_t type, std::int64_t bytes) override;
    std::string trouble() const override { return trouble_; }
    void change(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes);
    /// Whether it is what others write.
    bool is_data(H5FD_mem_t type) const { return type == H5FD_MEM_DRAW && !attributes_; }
    Status flush();
    Status extend(std::int64_t end);
    /// A change, and when it is written.
    struct Pending {
        int order;
        std::int64_t address;
        const Change* change;
    };
    Status write_fresh(bool shorter, std::vector<Pending>& others);
    Status write_in_order(std::span<const Pending> order);
    Status write_span(std::int64_t begin, std::int64_t end);
    Status write_changes(bool durable);
    Status write_together(bool durable, bool shorter);
    Status set_size(std::int64_t bytes) const;
    bool is_fresh(std::int64_t address) const;

    std::string path_;
    NextRoom next_room_;
    int fd_ = -1;
    Room room_;
    std::int64_t expected_ = -1, data_address_ = -1;
    std::int64_t replaced_end_ = -1;          ///< of data that are about to be freed
    bool attributes_ = false;                 ///< are written
    std::map<std::int64_t, Change> changes_;  ///< by address; none overlap
    std::vector<Room> fresh_;                 ///< allocated since the last commit
    std::string trouble_;                     ///< of the system, when a call of HDF5's fails
    Hdf5Driver driver_;
};

}  // namespace thalweg::detail
