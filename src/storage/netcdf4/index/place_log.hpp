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
#include "storage/netcdf4/index/index.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

/// Chunks that are logged together, and the number of records that the file has with them.
struct LoggedChunks {
    std::int64_t records = 0;
    std::vector<PlacedChunk> chunks;
};

class PlaceLog {
public:
    /// Creates the log of a file. If this fails, nothing is logged, and all functions do nothing.
    PlaceLog(const std::string& path, const Definitions& definitions);

    /// Adds chunks to the log. After a failure nothing more is logged.
    /// @param durable  sync the log
    void add(const LoggedChunks& logged, bool durable);
    /// Empties the log if it is long. HDF5's index must contain all logged chunks.
    void clear();
    /// Removes the log. HDF5's index must contain all logged chunks.
    void remove();

private:
    void append(std::span<const char> bytes);

    std::string path_;
    Descriptor fd_;
    bool failed_ = false;     ///< an entry could not be written, so no later ones are
    bool named_ = false;      ///< the folder was synced, so that the log survives a power failure
    std::int64_t begin_ = 0;  ///< offset in the log after the names of the variables
    std::int64_t end_ = 0;
    std::int64_t room_ = 0;  ///< bytes of the log for which the file system has reserved space
};

/// Reads the complete entries of a file's log.
/// @param names  receives the names of the variables, to which the numbers in the chunks refer
/// @return false if there is no log
bool read_place_log(const std::string& path, std::vector<std::string>& names,
                    std::vector<LoggedChunks>& logged);

}  // namespace thalweg::detail
