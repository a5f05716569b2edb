// A file of HDF5 that is read. HDF5 keeps the metadata; it is asked where data lie, and reads them
// itself only where it has to. Must be used by one thread, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "storage/netcdf4/hdf5_driver.hpp"

namespace thalweg::detail {

struct StoredVariable;

class Hdf5View final : private Hdf5Driver::Calls {
public:
    /// @param file  a descriptor of the file, which stays the caller's; -1: that of the path
    static std::unique_ptr<Hdf5View> open(const std::string& path, Status& status, int file = -1);
    ~Hdf5View();
    Hdf5View(const Hdf5View&) = delete;
    Hdf5View& operator=(const Hdf5View&) = delete;

    hid_t id() const { return driver_.id(); }
    /// How objects are opened to which external links lead: their files by HDF5's own driver.
    hid_t access() const { return access_; }
    /// A data set; negative if it cannot be opened.
    hid_t open_set(const std::string& name) const;
    int descriptor() const { return fd_; }
    std::int64_t size() const override;
    /// Whether the file may have been written since it was opened.
    bool changed() const;
    /// The first read of bytes of the file that failed: not what a damaged file makes HDF5 ask for.
    const Status& refused() const { return refused_; }

    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk) {
        return driver_.locate(set, corner, chunk);
    }
    /// The same, and which of the variable's filters the chunk lacks.
    Status locate(const StoredVariable& variable, hid_t set, const hsize_t* corner,
                  StoredChunk& chunk);

private:
    explicit Hdf5View(const std::string& path) : path_(path), driver_(*this, path) {}
    Status set_access();
    bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) override;
    bool write(H5FD_mem_t, std::int64_t, std::int64_t, const char*) override { return false; }
    std::int64_t allocate(H5FD_mem_t, std::int64_t) override { return -1; }

    std::string path_;
    int fd_ = -1;
    struct stat opened_ {};  ///< what the file was like
    bool young_ = false;     ///< it had been written just before
    Status refused_;
    hid_t access_ = H5P_DEFAULT;
    Hdf5Driver driver_;
};

}  // namespace thalweg::detail
