// The speed of a machine: packing, messages and file system; assumed for a kind of file system, or
// measured (a calibration file). Pure: neither MPI nor files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/posix/file_system.hpp"

namespace thalweg::planning {

/// Measured or assumed figures of a folder's file system. Rates are in bytes per second. A rate for
/// n writers is that of n writers of one file together.
struct Folder {
    std::string path;         ///< absolute path; empty if the figures are assumed
    std::string file_system;  ///< name as in FileSystem::name
    double create = 0;        ///< seconds to create a file and to remove it
    double rename = 0;        ///< seconds
    double call = 0;          ///< seconds that a write takes in addition to its bytes
    double request = 0;       ///< seconds until the servers answer; only the last write waits for
                              ///< this
    /// Additional seconds of a write in a block to which other nodes write, too.
    double lock = 0;
    double locks = 0;      ///< number of lock servers, each of which passes on one block at a
                           ///< time; 0: unknown
    double processor = 1;  ///< seconds of processor time per second of writing
    double node_rate = 0;  ///< highest rate of one node; 0: no limit
    std::vector<double> writers;  ///< measured numbers of writers, ascending
    /// Rate without fsync for each number; on a local disk this is the rate of memory.
    std::vector<double> rate;
    std::vector<double> durable;  ///< rate with an fsync for each number

    bool operator==(const Folder&) const = default;
};

struct Machine {
    // Size of the run in which the figures were measured; 0 if they are assumed.
    int ranks = 0, nodes = 0, cores = 0;
    double pack = 4e9;  ///< bytes per second that one core packs (reorders and converts)
    /// Bytes per second that all ranks of a node together pack.
    double pack_node = 20e9;
    double agree = 5e-6;    ///< seconds of an agreement of the ranks of a node
    double latency = 3e-6;  ///< seconds of a short message between nodes
    double message = 5e9;   ///< bytes per second that leave a node, or enter it
    /// Bytes per second of messages inside a node, for all its ranks together.
    double inside = 1e10;
    double compress = 1e8;  ///< bytes per second that one core compresses
    double run = 5e-9;      ///< seconds that a run of an index list takes in addition to its
                            ///< elements
    std::vector<Folder> folders;

    bool operator==(const Machine&) const = default;
    bool measured() const { return ranks > 0; }
    /// Returns the measured figures for a path: those of its folder, or of the nearest folder above
    /// it, or of any folder with the same file system. Null if there are none.
    const Folder* folder_of(const std::string& path, const std::string& file_system) const;
};

/// Returns rough figures for a file system that was not measured.
Folder assumed_folder(const detail::FileSystem& system);

/// Returns the rate of a number of writers of one file together. It is interpolated between
/// measured numbers of writers, and constant beyond them.
double rate_of(const Folder& folder, double writers, bool durable);

/// Reads a calibration file.
/// @param name  name of the file, for messages
/// @return TW_OK; TW_ESETTING, which names the file and the key
detail::Status parse_machine(std::string_view content, const std::string& name, Machine& machine);

/// Formats a calibration file.
/// @param remark  text for the first line, which says where the figures come from
std::string text_of(const Machine& machine, const std::string& remark);

}  // namespace thalweg::planning
