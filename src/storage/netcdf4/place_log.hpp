// A log beside a netCDF-4 file that is written in the background. It holds the chunks of complete
// records that are not in HDF5's index yet, which only the model's thread may change. After a
// killed run, enter_logged() puts them into the index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "definitions/definitions.hpp"
#include "storage/netcdf4/index.hpp"

namespace thalweg::detail {

class PlaceLog {
public:
    /// Creates the log of a file. If that fails, nothing is logged.
    PlaceLog(const std::string& path, const Definitions& definitions);
    ~PlaceLog();
    PlaceLog(const PlaceLog&) = delete;
    PlaceLog& operator=(const PlaceLog&) = delete;

    /// Adds chunks, with which the file has so many records. A failure ends the log.
    /// @param durable  sync the log
    void add(std::int64_t records, std::span<const PlacedChunk> chunks, bool durable);
    /// Forgets the chunks, all of which are in the index, if they are many.
    void clear();
    /// Removes the log, all of which is in the index.
    void remove();

private:
    void append(std::span<const char> bytes);

    std::string path_;
    int fd_ = -1;
    std::int64_t begin_ = 0;  ///< first byte after the names
    std::int64_t end_ = 0;
    std::int64_t room_ = 0;  ///< bytes that the file system has reserved
};

/// Chunks that were logged together, and the records of the file with them.
struct LoggedChunks {
    std::int64_t records = 0;
    std::vector<PlacedChunk> chunks;
};

/// Reads the log of a file, as far as it is whole.
/// @param names  receives the variables to which the chunks' numbers refer
/// @return false if there is none
bool read_place_log(const std::string& path, std::vector<std::string>& names,
                    std::vector<LoggedChunks>& logged);

}  // namespace thalweg::detail
