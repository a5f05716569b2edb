// The measured speed of a machine, and its calibration file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace thalweg::planning {

/// Measured figures of a folder's file system. Rates are in bytes per second. A rate for n writers
/// is that of n writers of one file together. What was not measured is empty.
struct Folder {
    std::string path;         ///< absolute path
    std::string file_system;  ///< name as in FileSystem::name
    double create = 0;        ///< seconds to create a file and to remove it
    double rename = 0;        ///< seconds
    double call = 0;          ///< seconds that a write takes in addition to its bytes
    /// Seconds until the servers answer; only the last write waits for this.
    std::optional<double> request;
    /// Additional seconds of a write in a block to which other nodes write, too.
    std::optional<double> lock;
    /// Number of lock servers, each of which passes on one block at a time.
    std::optional<double> locks;
    double processor = 1;             ///< seconds of processor time per second of writing
    std::optional<double> node_rate;  ///< highest rate of one node
    std::vector<double> writers;      ///< measured numbers of writers, ascending
    /// Rate without fsync for each number; on a local disk this is the rate of memory.
    std::vector<double> rate;
    std::vector<double> durable;  ///< rate with an fsync for each number
};

/// Measured figures of a machine, which lab/plan/machine.py describes.
struct Machine {
    int ranks = 0, nodes = 0, cores = 0;  ///< size of the run, and cores of a node
    double pack = 0, pack_node = 0, agree = 0, run = 0;
    std::optional<double> latency, message, inside;  ///< empty with a single rank
    std::vector<Folder> folders;
};

/// Formats a calibration file.
/// @param remark  text for the first line, which says where the figures come from
std::string text_of(const Machine& machine, const std::string& remark);

}  // namespace thalweg::planning
