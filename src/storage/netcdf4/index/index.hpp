// HDF5's view of the variables of a netCDF-4 file: their lengths, and the places of their data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/netcdf4/index/hdf5_file.hpp"

namespace thalweg::detail {

/// A chunk and its place in the file. A chunk is identified by variable, (first) record and number.
struct PlacedChunk {
    std::int64_t variable = 0, record = 0, number = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;     ///< size in the file; 0: the chunk was overwritten where it was
    std::uint32_t skipped = 0;  ///< mask of filters that were not applied, as in HDF5
    bool replaces = false;      ///< the chunk replaces an older version
};

class Netcdf4Index {
public:
    /// Opens the index of a file. The file may contain more variables than the definitions.
    static std::unique_ptr<Netcdf4Index> open(const std::string& path,
                                              const Definitions& definitions,
                                              std::span<const ChunkGrid> grids, NextRoom next_room,
                                              Status& status);
    ~Netcdf4Index() { close_handles(); }

    std::int64_t records() const { return records_; }
    /// Returns the number of records of a variable in HDF5. If the file has more records, the rest
    /// of the variable consists of fill values.
    std::int64_t records(int variable) const { return lengths_[variable]; }
    /// Returns the end of the space that HDF5 uses.
    std::int64_t end() const { return file_->end(); }
    /// Calls visit(chunk) for the chunks of a variable that are in the file. For a record variable
    /// these are the chunks with a record before `records`.
    Status for_chunks(int variable, std::int64_t records,
                      const std::function<void(const PlacedChunk&)>& visit);

    /// Sets the address of a variable that is not chunked.
    Status place(int variable, std::int64_t address);
    /// Sets the number of records of all record variables and of the record dimension.
    Status set_records(std::int64_t records);
    /// Drops all records from number `records` on, with all chunks that contain such a record. If a
    /// chunk also holds earlier records, the caller must add() a new chunk with these.
    Status drop_records(std::int64_t records);
    Status add(const PlacedChunk& chunk);
    /// Adds or replaces attributes of variables, or of the file (variable -1). After this call,
    /// only commit_together() and close() may be called.
    Status set_attributes(const LateAttributes& attributes);

    /// Writes the changes; see Hdf5File.
    Status commit(bool durable) { return file_->commit(durable); }
    Status commit_together(bool durable, bool shorter) {
        return file_->commit_together(durable, shorter);
    }
    Status close(bool durable);

private:
    Netcdf4Index(const std::string& path, const Definitions& definitions,
                 std::span<const ChunkGrid> grids)
        : path_(path), definitions_(definitions), grids_(grids) {}
    Status open_variables();
    Status find_length(hid_t set, std::int64_t& records) const;
    Status set_length(hid_t set, std::int64_t records, const std::string& name);
    Status set_attribute(int variable, const Attribute& attribute);
    Status attribute_failure(int variable, const Attribute& attribute) const;
    Status write_chunk(const PlacedChunk& chunk, const hsize_t* offset, const StoredChunk& old);
    std::vector<hsize_t> offset_of(const PlacedChunk& chunk) const;
    void close_handles();

    std::string path_;
    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    std::unique_ptr<Hdf5File> file_;
    std::vector<hid_t> sets_;            ///< data set of each variable
    std::vector<std::int64_t> lengths_;  ///< number of records of each variable
    /// Data set of the record dimension, if it is not also a variable.
    hid_t dimension_ = H5I_INVALID_HID;
    std::int64_t records_ = 0;
};

}  // namespace thalweg::detail
