// A file that HDF5 opens but does not access: it calls functions of the library to read and write.
// Must be used by one thread, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "storage/library_lock.hpp"

namespace thalweg::detail {

/// Silences HDF5's error messages for the duration of a scope, and locks HDF5 against other threads
/// of the library. Each use of HDF5 needs such a scope.
class QuietHdf5 {
public:
    QuietHdf5();
    ~QuietHdf5();
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

private:
    const LibraryLock lock_;
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

/// Returns an error that contains HDF5's own text.
Status hdf5_failure(const std::string& path, const std::string& what);

/// Returns the type of HDF5 for values in memory; text is of length 1.
hid_t native_type(tw_type type);

/// Address, size and filter mask of a chunk in the file.
struct StoredChunk {
    std::int64_t address = -1;  ///< -1: the chunk was never written
    std::int64_t bytes = 0;
    std::uint32_t skipped = 0;  ///< mask of the filters that HDF5 skipped for the chunk
};

class Hdf5Driver {
public:
    /// Functions by which HDF5 reads, writes and allocates bytes of the file.
    class Calls {
    public:
        virtual std::int64_t size() const = 0;  ///< size of the file; -1: unknown
        /// Returns the end of the file that HDF5 is told for a type of data.
        /// @param end  true end of the space in use
        virtual std::int64_t end_for(H5FD_mem_t type, std::int64_t end) const {
            (void)type;
            return end;
        }
        virtual bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) = 0;
        virtual bool write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes,
                           const char* from) = 0;
        /// Allocates space in the file and returns its address; -1 if there is none.
        virtual std::int64_t allocate(H5FD_mem_t type, std::int64_t bytes) = 0;
        /// Returns the system's error text for a failed call; empty if HDF5's own text is better.
        virtual std::string trouble() const { return {}; }

    protected:
        ~Calls() = default;
    };

    Hdf5Driver(Calls& calls, std::string path) : calls_(calls), path_(std::move(path)) {}
    ~Hdf5Driver() { (void)close(); }
    Hdf5Driver(const Hdf5Driver&) = delete;
    Hdf5Driver& operator=(const Hdf5Driver&) = delete;

    /// @param access  H5F_ACC_RDONLY or H5F_ACC_RDWR
    /// @param modern  permit new attributes of more than 64 KiB, as netCDF-C does
    Status open(unsigned access, bool modern = false);
    /// Closes the file. All handles in it must be closed before.
    Status close();
    /// Returns TW_OK, or the error after which HDF5's writes are ignored.
    Status healthy() const { return thrown_; }
    /// Finds the place of the chunk at a corner. Asks HDF5 to read the chunk and records the
    /// address that HDF5 requests, because HDF5's own functions for this search the whole index
    /// each time.
    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk);
    /// Returns the error of the last call of HDF5.
    Status failed(const std::string& what) const;

    hid_t id() const { return id_; }
    /// Returns the end of the space that HDF5 uses in the file.
    std::int64_t end() const { return end_; }
    void reach(std::int64_t end) { end_ = std::max(end_, end); }

private:
    struct Table;

    Calls& calls_;
    std::string path_;
    hid_t driver_ = H5I_INVALID_HID, id_ = H5I_INVALID_HID;
    Table* table_ = nullptr;  ///< HDF5's handle of this file
    bool dropping_ = false;   ///< HDF5's writes are ignored, after an error
    Status thrown_;           ///< error of an exception that a callback function of HDF5 has caught
    bool looking_ = false;    ///< locate() waits for HDF5 to request a chunk
    std::int64_t seen_ = -1;  ///< address that HDF5 requested for this chunk
    std::int64_t end_ = 0;
};

}  // namespace thalweg::detail
