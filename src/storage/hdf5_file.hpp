// A file of HDF5 whose data others write. HDF5 itself keeps the metadata: it is told where data
// lie, and never sees them. What it changes stays in memory until commit(), which writes it in such
// an order that whoever opens the file finds what was committed, at any moment in between, too.
// Must be used by one thread, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/status.hpp"

namespace thalweg {

/// Bytes [begin, end) of a file that are free for metadata.
struct Room {
    std::int64_t begin = 0, end = 0;
};

/// No report of HDF5's goes to standard error as long as this lives; its text goes into a Status.
class QuietHdf5 {
public:
    QuietHdf5();
    ~QuietHdf5();
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

/// A failure of HDF5 in its own words.
Status hdf5_failure(const std::string& path, const std::string& what);

class Hdf5File {
public:
    /// @param next_room  gives room for metadata when there is no more, each time another one
    static std::unique_ptr<Hdf5File> open(const std::string& path, std::function<Room()> next_room,
                                          Status& status);
    /// Leaves the file as it was after the last commit().
    ~Hdf5File();
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;

    hid_t id() const { return id_; }
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
    struct Driver;

    Hdf5File(std::string path, std::function<Room()> next_room)
        : path_(std::move(path)), next_room_(std::move(next_room)) {}
    Status failed(const std::string& what);
    haddr_t allocate(H5FD_mem_t type, std::int64_t bytes);
    bool read(std::int64_t address, std::int64_t bytes, char* to);
    void change(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes);
    Status write_changes(bool durable);
    bool is_fresh(std::int64_t address) const;

    std::string path_;
    std::function<Room()> next_room_;
    int fd_ = -1;
    hid_t driver_ = H5I_INVALID_HID, id_ = H5I_INVALID_HID;
    std::int64_t end_ = 0;  ///< of the space that HDF5 uses
    Room room_;
    std::int64_t expected_ = -1, data_address_ = -1;
    std::map<std::int64_t, Change> changes_;  ///< by address; none overlap
    std::vector<Room> fresh_;                 ///< allocated since the last commit
    std::string trouble_;                     ///< of the system, when a call of HDF5's fails
};

}  // namespace thalweg
