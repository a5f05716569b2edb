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

/// A scope in which HDF5 prints no errors to standard error, and in which no other thread of the
/// library calls HDF5. Required around all use of HDF5.
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

/// Returns an error with HDF5's own text.
Status hdf5_failure(const std::string& path, const std::string& what);

/// The place of a chunk in the file.
struct StoredChunk {
    std::int64_t address = -1;  ///< -1: never written
    std::int64_t bytes = 0;
    std::uint32_t skipped = 0;  ///< mask of the filters that HDF5 skipped for the chunk
};

class Hdf5Driver {
public:
    /// The functions by which HDF5 accesses the file.
    class Calls {
    public:
        virtual std::int64_t size() const = 0;  ///< size of the file; -1: unknown
        /// Returns the end that HDF5 sees for a type of data. @param end  end of all space in use
        virtual std::int64_t end_for(H5FD_mem_t type, std::int64_t end) const {
            (void)type;
            return end;
        }
        virtual bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) = 0;
        virtual bool write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes,
                           const char* from) = 0;
        /// Returns the address of free room of so many bytes; -1: there is none.
        virtual std::int64_t allocate(H5FD_mem_t type, std::int64_t bytes) = 0;
        /// Returns the system's error text for a call that failed; empty if HDF5's text is better.
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
    Status healthy() const;
    /// Finds the place of the chunk at a corner. HDF5's own functions for this walk the whole index
    /// each time. Instead, HDF5 is asked to read the chunk, and the address is recorded.
    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk);
    /// Returns the error of the last call of HDF5.
    Status failed(const std::string& what) const;

    hid_t id() const { return id_; }
    /// Returns the end of the space that HDF5 uses.
    std::int64_t end() const { return end_; }
    void reach(std::int64_t end) { end_ = std::max(end_, end); }

private:
    struct Table;

    Calls& calls_;
    std::string path_;
    hid_t driver_ = H5I_INVALID_HID, id_ = H5I_INVALID_HID;
    Table* table_ = nullptr;  ///< HDF5's handle of this file
    bool dropping_ = false;   ///< HDF5's writes are ignored
    Status thrown_;           ///< error of an exception in a function that HDF5 called
    bool looking_ = false;    ///< locate() is waiting for the address of a chunk
    std::int64_t seen_ = -1;  ///< address at which HDF5 wanted to read that chunk
    std::int64_t end_ = 0;
};

}  // namespace thalweg::detail
