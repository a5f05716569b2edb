// The variables of a netCDF-4 file as HDF5 knows them: how long they are, and where their data lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "storage/netcdf4/chunk_grid.hpp"
#include "storage/netcdf4/hdf5_file.hpp"

namespace thalweg::detail {

/// Where a chunk was written.
struct PlacedChunk {
    std::int64_t variable = 0, record = 0, number = 0;
    std::int64_t address = 0, bytes = 0;
};

class Netcdf4Index {
public:
    /// Of a file that create_netcdf4() has made.
    static std::unique_ptr<Netcdf4Index> open(const std::string& path,
                                              const Definitions& definitions,
                                              std::span<const ChunkGrid> grids,
                                              std::function<Room()> next_room, Status& status);
    ~Netcdf4Index();

    /// A variable that is not chunked lies there.
    Status place(int variable, std::int64_t address);
    /// So many records of all record variables, and of the record dimension.
    Status set_records(std::int64_t records);
    Status add(const PlacedChunk& chunk);
    /// Writes what was changed. See Hdf5File.
    Status commit(bool durable) { return file_->commit(durable); }
    Status close();

private:
    Netcdf4Index(const std::string& path, const Definitions& definitions,
                 std::span<const ChunkGrid> grids)
        : path_(path), definitions_(definitions), grids_(grids) {}
    Status open_variables();
    Status set_length(hid_t set, std::int64_t records, const std::string& name);
    void close_handles();

    std::string path_;
    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    std::unique_ptr<Hdf5File> file_;
    std::vector<hid_t> sets_;            ///< of each variable
    hid_t dimension_ = H5I_INVALID_HID;  ///< of the record dimension, if no variable has its name
    std::int64_t records_ = 0;
};

}  // namespace thalweg::detail
