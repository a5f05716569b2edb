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

/// The figures of a folder's file system. Rates are bytes per second of all writers of one file
/// together, by their number.
struct Folder {
    std::string path;         ///< absolute; empty: the figures are assumed
    std::string file_system;  ///< as FileSystem::name
    double create = 0;        ///< seconds to create a file and remove it
    double rename = 0;        ///< seconds
    double call = 0;          ///< seconds of overhead per write
    double request = 0;       ///< seconds of the servers' answer, which the last write waits for
    double lock = 0;          ///< additional seconds of a write in a block that others write, too
    double locks = 0;         ///< number of lock servers, each of which passes on one block at a
                              ///< time; 0: unknown
    double processor = 1;     ///< processor seconds per second of writing
    double node_rate = 0;     ///< most that one node writes; 0: unlimited
    std::vector<double> writers;  ///< measured numbers of writers, ascending
    std::vector<double> rate;     ///< rate without fsync: memory's, on a local disk
    std::vector<double> durable;  ///< rate with an fsync

    bool operator==(const Folder&) const = default;
};

struct Machine {
    // Size of the run that measured the figures; 0: they are assumed.
    int ranks = 0, nodes = 0, cores = 0;
    double pack = 4e9;        ///< bytes per second that one core reorders and converts
    double pack_node = 20e9;  ///< the same for all ranks of a node together
    double agree = 5e-6;      ///< seconds of an agreement within a node
    double latency = 3e-6;    ///< seconds of a short message between nodes
    double message = 5e9;     ///< bytes per second out of a node, or into it
    double inside = 1e10;     ///< bytes per second of messages inside a node, of all its ranks
    double compress = 1e8;    ///< bytes per second that one core compresses
    double run = 5e-9;        ///< seconds of overhead per run of an index list
    std::vector<Folder> folders;

    bool operator==(const Machine&) const = default;
    bool measured() const { return ranks > 0; }
    /// Returns the figures measured in the path's folder, else those of the nearest folder above
    /// it, else those of any folder of the same file system; null if there are none.
    const Folder* folder_of(const std::string& path, const std::string& file_system) const;
};

/// Returns rough figures for a file system that was not measured.
Folder assumed_folder(const detail::FileSystem& system);

/// Returns the bytes per second of some writers of one file together: interpolated between measured
/// numbers, constant beyond them.
double rate_of(const Folder& folder, double writers, bool durable);

/// Reads a calibration file.
/// @param name  file name, for messages
/// @return TW_OK; TW_ESETTING, which names the file and the key
detail::Status parse_machine(std::string_view content, const std::string& name, Machine& machine);

/// Formats a calibration file.
/// @param remark  origin of the figures; becomes the first line
std::string text_of(const Machine& machine, const std::string& remark);

}  // namespace thalweg::planning
