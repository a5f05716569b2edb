// The state of the machine before a measurement: folders, memory, the page cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "measurement.hpp"

namespace thalweg::bench {

/// Throws UsageError on every rank if the folder does not serve. @note Collective
void check_folder(const Meeting& meeting, const std::string& folder, double bytes_needed);

/// Hours of measuring must not end with a file that cannot be written. Throws UsageError. An empty
/// path is none. @note Collective
void check_json_file(const Meeting& meeting, const std::string& path);

/// A method's name as a part of a file's: MPI-IO takes what stands before a ':' for a file system.
std::string file_name(std::string method);

/// Brings memory into the same state before every measurement. @note All functions are collective.
class Ground {
public:
    Ground(const Meeting& meeting, const std::string& folder);

    /// "FOLDER/thalweg-bench-ID", the same on all ranks: what files' names begin with.
    const std::string& prefix() const { return prefix_; }

    /// The path of a method's file.
    std::string file_of(const std::string& method) const;

    /// Touches memory that the page cache, the fields and the methods will use, and every pair of
    /// ranks' message buffers, so that no method pays for being the first.
    void prewarm(std::int64_t bytes) const;

    /// A virtual machine may give memory that is free for some seconds back to its host and is
    /// slow to get it again; so the last file is kept until now, a second one of `bytes` is
    /// written, and both are freed: pages for a new file and as much again for buffers are at hand.
    void level(std::int64_t bytes, const std::string& last_file, bool flush, int settle_ms) const;

    void remove(const std::string& path) const;

private:
    std::string scratch() const { return prefix_ + "-scratch"; }
    void write_scratch(std::int64_t total) const;

    const Meeting& meeting_;
    std::string prefix_;
};

}  // namespace thalweg::bench
