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

class Hdf5File final : private Hdf5Driver::Calls {
public:
    /// @param next_room  gives room for metadata when there is no more, each time another one
    static std::unique_ptr<Hdf5File> open(const std::string& path, std::function<Room()> next_room,
                                          Status& status);
    /// Leaves the file as it was after the last commit().
    ~Hdf5File();
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;

    hid_t id() const { return driver_.id(); }
    /// Where the next data lie for which HDF5 asks for room.
    void expect_data(std::int64_t address) { expected_ = address; }
    /// Where HDF5 wanted to write data last.
    std::int64_t data_address() const { return data_address_; }
    /// Copies within the file.
    Status copy(std::int64_t from, std::int64_t to, std::int64_t bytes);

    /// Writes all changes of the metadata; with `durable` for good.
    Status commit(bool durable);
    /// The same, and no more use of the file. All handles of it must be closed.
    Status close();

private:
    struct Change {
        H5FD_mem_t type;
        std::vector<char> bytes;
    };

    Hdf5File(const std::string& path, std::function<Room()> next_room)
        : path_(path), next_room_(std::move(next_room)), driver_(*this, path) {}
    std::int64_t size() const override;
    bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) override;
    bool write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes,
               const char* from) override;
    std::int64_t allocate(H5FD_mem_t type, std::int64_t bytes) override;
    std::string trouble() const override { return trouble_; }
    void change(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes);
    Status write_changes(bool durable);
    /// A change, and when it is written.
    struct Pending {
        int order;
        std::int64_t address;
        const Change* change;
    };
    Status write_in_order(std::span<const Pending> order);
    Status write_span(std::int64_t begin, std::int64_t end);
    bool is_fresh(std::int64_t address) const;

    std::string path_;
    std::function<Room()> next_room_;
    int fd_ = -1;
    Room room_;
    std::int64_t expected_ = -1, data_address_ = -1;
    std::map<std::int64_t, Change> changes_;  ///< by address; none overlap
    std::vector<Room> fresh_;                 ///< allocated since the last commit
    std::string trouble_;                     ///< of the system, when a call of HDF5's fails
    Hdf5Driver driver_;
};

}  // namespace thalweg::detail
