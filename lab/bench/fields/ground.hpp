// Prepares the machine for a measurement: folders, memory, the page cache; and describes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measurement.hpp"

namespace thalweg::bench {

/// Throws UsageError on every rank if the folder cannot be used.
/// @note Collective
void check_folder(const RankGroup& rank_group, const std::string& folder, double bytes_needed);

/// Throws UsageError if the JSON file cannot be written, so that this is found before hours of
/// measuring. An empty path means no file.
/// @note Collective
void check_json_file(const RankGroup& rank_group, const std::string& path);

/// Returns processor, memory, kernel, file system of a folder, and versions of the libraries.
nlohmann::ordered_json describe_machine(const RankGroup& rank_group, const std::string& folder);

/// Returns the date in UTC, ISO 8601.
std::string date_now();

/// Brings memory into the same state before each measurement.
/// @note All functions are collective
class Ground {
public:
    Ground(const RankGroup& rank_group, const std::string& folder);

    /// Returns the beginning of all file names, "FOLDER/thalweg-bench-ID", the same on all ranks.
    const std::string& prefix() const { return prefix_; }

    /// Returns the path of a method's file.
    std::string file_of(std::string method) const;

    /// Touches memory that the page cache, the fields and the methods will use, and sends a message
    /// between each pair of ranks, so that the first method is not measured with these costs.
    void prewarm(std::int64_t bytes) const;

    /// Makes free memory available for a new file and for buffers of the same size: writes a file
    /// of `bytes` bytes beside the last file, and removes both. Otherwise a virtual machine may
    /// return memory that was free for some seconds to its host, and gets it back only slowly.
    void level(std::int64_t bytes, const std::vector<std::string>& last_files) const;

    void remove(const std::string& path) const;

private:
    std::string scratch() const { return prefix_ + "-scratch"; }
    void write_scratch(std::int64_t total) const;

    const RankGroup& rank_group_;
    std::string prefix_;
};

}  // namespace thalweg::bench
