// A file that HDF5 opens and does not touch: it calls functions of ours for what it reads and
// writes. Must be used by one thread, as HDF5 itself.
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

/// No report of HDF5's goes to standard error as long as this lives; its text goes into a Status.
/// Around all use of HDF5: no other thread of the library's is in it meanwhile.
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

/// A failure of HDF5 in its own words.
Status hdf5_failure(const std::string& path, const std::string& what);

/// A chunk as it lies in the file.
struct StoredChunk {
    std::int64_t address = -1;  ///< -1: never written
    std::int64_t bytes = 0;
    std::uint32_t skipped = 0;  ///< HDF5's mask of filters
};

class Hdf5Driver {
public:
    /// What HDF5 calls.
    class Calls {
    public:
        virtual std::int64_t size() const = 0;  ///< of the file; -1: it cannot be told
        /// Where the space ends that HDF5 uses for a type, if it ends at `end`.
        virtual std::int64_t end_for(H5FD_mem_t type, std::int64_t end) const {
            (void)type;
            return end;
        }
        virtual bool read(H5FD_mem_t type, std::int64_t address, std::int64_t bytes, char* to) = 0;
        virtual bool write(H5FD_mem_t type, std::int64_t address, std::int64_t bytes,
                           const char* from) = 0;
        /// Room for that many bytes; -1: there is none.
        virtual std::int64_t allocate(H5FD_mem_t type, std::int64_t bytes) = 0;
        /// What the system said of a call that failed, where that says more than HDF5's own words.
        virtual std::string trouble() const { return {}; }

    protected:
        ~Calls() = default;
    };

    Hdf5Driver(Calls& calls, std::string path) : calls_(calls), path_(std::move(path)) {}
    ~Hdf5Driver() { (void)close(); }
    Hdf5Driver(const Hdf5Driver&) = delete;
    Hdf5Driver& operator=(const Hdf5Driver&) = delete;

    /// @param access  H5F_ACC_RDONLY or H5F_ACC_RDWR
    Status open(unsigned access);
    /// All handles of the file must be closed.
    Status close();
    /// Whether all that HDF5 has written is with the caller.
    Status healthy() const;
    /// Where the chunk with that corner lies. HDF5's own functions that tell it walk the whole
    /// index each time; so it is asked to read the chunk, and what it would read is noted.
    Status locate(hid_t set, const hsize_t* corner, StoredChunk& chunk);
    /// The last call of HDF5's has failed.
    Status failed(const std::string& what) const;

    hid_t id() const { return id_; }
    /// Of the space that HDF5 uses.
    std::int64_t end() const { return end_; }
    void reach(std::int64_t end) { end_ = std::max(end_, end); }

private:
    struct Table;

    Calls& calls_;
    std::string path_;
    hid_t driver_ = H5I_INVALID_HID, id_ = H5I_INVALID_HID;
    Table* table_ = nullptr;  ///< what HDF5 has of this
    bool dropping_ = false;   ///< what HDF5 still writes is given up
    Status thrown_;           ///< by a call of ours
    bool looking_ = false;    ///< for a chunk
    std::int64_t seen_ = -1;  ///< where HDF5 wanted to read it
    std::int64_t end_ = 0;
};

}  // namespace thalweg::detail
