// A file of HDF5 that is read. HDF5 keeps the metadata; it is asked where data lie, and reads them
// itself only where it has to. Must be used by one thread, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <string>

#include "comm/status.hpp"

namespace thalweg {

/// A chunk as it lies in the file.
struct StoredChunk {
    std::int64_t address = -1;  ///< -1: never written
    std::int64_t bytes = 0;
    std::uint32_t skipped = 0;  ///< HDF5's mask of filters
};

class Hdf5View {
public:
    static std::unique_ptr<Hdf5View> open(const std::string& path, Status& status);
    ~Hdf5View();
    Hdf5View(const Hdf5View&) = delete;
    Hdf5View& operator=(const Hdf5View&) = delete;

    hid_t id() const { return id_; }
    int descriptor() const { return fd_; }
    std::int64_t size() const;

    /// Where the chunk with that corner lies. HDF5's own functions that tell it walk the whole
    /// index each time; so it is asked to read the chunk, and its driver told to note where.
    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk);

private:
    struct Driver;

    Hdf5View() = default;

    std::string path_;
    int fd_ = -1;
    hid_t driver_ = H5I_INVALID_HID, id_ = H5I_INVALID_HID;
    std::int64_t end_ = 0;  ///< of the space that HDF5 uses
    bool looking_ = false;
    std::int64_t seen_ = -1;  ///< where HDF5 wanted to read data last
};

}  // namespace thalweg
