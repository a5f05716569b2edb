// The variables of a netCDF-4 file as HDF5 knows them: how long they are, and where their data lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/netcdf4/hdf5_file.hpp"

namespace thalweg::detail {

/// Where a chunk was written; its (first) record.
struct PlacedChunk {
    std::int64_t variable = 0, record = 0, number = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;     ///< 0: it was there, and was changed
    std::uint32_t skipped = 0;  ///< filters that were not applied, as HDF5's mask
    bool replaces = false;      ///< it takes the place of another one
};

class Netcdf4Index {
public:
    /// Of a file with these definitions, and perhaps others.
    static std::unique_ptr<Netcdf4Index> open(const std::string& path,
                                              const Definitions& definitions,
                                              std::span<const ChunkGrid> grids, NextRoom next_room,
                                              Status& status);
    ~Netcdf4Index();

    std::int64_t records() const { return records_; }
    /// Of a variable, which may be shorter: it is filled from there on.
    std::int64_t records(int variable) const { return lengths_[variable]; }
    /// Of the file.
    std::int64_t end() const { return file_->end(); }
    /// Calls visit(chunk) for all chunks of a variable that the file has: of a record variable,
    /// those with records before `records`.
    Status for_chunks(int variable, std::int64_t records,
                      const std::function<void(const PlacedChunk&)>& visit);

    /// A variable that is not chunked lies there.
    Status place(int variable, std::int64_t address);
    /// So many records of all record variables, and of the record dimension.
    Status set_records(std::int64_t records);
    /// No more than so many records. Chunks that have some of them and others are no longer known:
    /// to be followed by add() of new ones.
    Status drop_records(std::int64_t records);
    Status add(const PlacedChunk& chunk);
    /// Adds or replaces attributes of variables, or of the file (-1). Nothing but commit_together()
    /// and close() may follow.
    Status set_attributes(const LateAttributes& attributes);

    /// Writes what was changed. See Hdf5File.
    Status commit(bool durable) { return file_->commit(durable); }
    Status commit_together(bool durable, bool shorter) {
        return file_->commit_together(durable, shorter);
    }
    Status close();

private:
    Netcdf4Index(const std::string& path, const Definitions& definitions,
                 std::span<const ChunkGrid> grids)
        : path_(path), definitions_(definitions), grids_(grids) {}
    Status open_variables();
    Status find_length(hid_t set, std::int64_t& records) const;
    Status set_length(hid_t set, std::int64_t records, const std::string& name);
    Status set_attribute(int variable, const Attribute& attribute);
    Status write_chunk(const PlacedChunk& chunk, const hsize_t* offset, const StoredChunk& old);
    std::vector<hsize_t> offset_of(const PlacedChunk& chunk) const;
    void close_handles();

    std::string path_;
    const Definitions& definitions_;
    std::span<const ChunkGrid> grids_;
    std::unique_ptr<Hdf5File> file_;
    std::vector<hid_t> sets_;            ///< of each variable
    std::vector<std::int64_t> lengths_;  ///< of each, in records
    hid_t dimension_ = H5I_INVALID_HID;  ///< of the record dimension, if no variable has its name
    std::int64_t records_ = 0;
    /// Chunks without filters that HDF5 has at another place than who writes them.
    std::map<std::array<std::int64_t, 3>, std::int64_t> elsewhere_;
};

}  // namespace thalweg::detail
