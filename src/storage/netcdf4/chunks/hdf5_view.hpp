// An HDF5 file that is read. HDF5 returns the places of data, and reads data itself only if it has
// to. Must be used by one thread, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "storage/netcdf4/index/hdf5_driver.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

struct StoredVariable;

class Hdf5View final : private Hdf5Driver::Calls {
public:
    /// @param file  descriptor of the open file, which the caller closes later; -1: open the file
    ///              by its path
    static std::unique_ptr<Hdf5View> open(const std::string& path, Status& status, int file = -1);
    ~Hdf5View();
    Hdf5View(const Hdf5View&) = delete;
    Hdf5View& operator=(const Hdf5View&) = delete;

    hid_t id() const { return driver_.id(); }
    /// Returns the access properties for opening objects. They make HDF5 follow external links with
    /// its own driver.
    hid_t access() const { return access_; }
    /// Opens a data set; returns a negative handle if that fails.
    hid_t open_set(const std::string& name) const;
    int descriptor() const { return fd_; }
    std::int64_t size() const override;
    /// Tests if the file may have been written since it was opened.
    bool changed() const;
    /// Returns the first failed read within the file. Reads beyond the end of the file, which
    /// damage can cause, are not included.
    const Status& refused() const { return refused_; }

    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk) {
        return driver_.locate(set, corner, chunk);
    }
    /// Finds the place of a chunk, and the filters that were not applied to it.
    Status locate(const StoredVariable& variable, hid_t set, const hsize_t* corner,
                  StoredChunk& chunk);

private:
    explicit Hdf5View(const std::string& path) : path_(path), driver_(*this, path) {}
    Status set_access();
    bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) override;
    bool write(H5FD_mem_t, std::int64_t, std::int64_t, const char*) override { return false; }
    std::int64_t allocate(H5FD_mem_t, std::int64_t) override { return -1; }

    std::string path_;
    Descriptor fd_;
    struct stat opened_ {};  ///< state of the file at the time of opening
    /// The file was written so shortly before it was opened that its modification time may not show
    /// a later write.
    bool young_ = false;
    Status refused_;
    hid_t access_ = H5P_DEFAULT;
    Hdf5Driver driver_;
};

}  // namespace thalweg::detail
