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

/// Measured or assumed figures of the file system of a folder. Rates are in bytes per second of all
/// writers of a file together, for each number of writers.
struct Folder {
    std::string path;         ///< absolute; empty: the figures are assumed
    std::string file_system;  ///< as FileSystem::name
    double create = 0;        ///< seconds to create a file and remove it
    double rename = 0;        ///< seconds
    double call = 0;          ///< seconds of overhead per write
    double request = 0;       ///< seconds until the servers answer, for which the last write waits
    /// Additional seconds of a write in a block that other nodes write as well.
    double lock = 0;
    double locks = 0;      ///< number of lock servers, each of which passes on one block at a
                           ///< time; 0: unknown
    double processor = 1;  ///< processor seconds per second of writing
    double node_rate = 0;  ///< highest rate of one node; 0: unlimited
    std::vector<double> writers;  ///< numbers of writers that were measured, ascending
    /// For each, the rate without fsync; on a local disk it is that of memory.
    std::vector<double> rate;
    std::vector<double> durable;  ///< for each, the rate with an fsync

    bool operator==(const Folder&) const = default;
};

struct Machine {
    // Size of the run that measured the figures; 0: they are assumed.
    int ranks = 0, nodes = 0, cores = 0;
    double pack = 4e9;  ///< bytes per second that one core reorders and converts
    /// Bytes per second that all ranks of a node together reorder and convert.
    double pack_node = 20e9;
    double agree = 5e-6;    ///< seconds of an agreement within a node
    double latency = 3e-6;  ///< seconds of a short message between nodes
    double message = 5e9;   ///< bytes per second out of a node, or into it
    /// Bytes per second of messages inside a node, all its ranks together.
    double inside = 1e10;
    double compress = 1e8;  ///< bytes per second that one core compresses
    double run = 5e-9;      ///< seconds of overhead per run of an index list
    std::vector<Folder> folders;

    bool operator==(const Machine&) const = default;
    bool measured() const { return ranks > 0; }
    /// Returns the figures measured in the path's folder, else those of the nearest folder above
    /// it, else those of any folder of the same file system; null if there are none.
    const Folder* folder_of(const std::string& path, const std::string& file_system) const;
};

/// Returns rough figures for a file system that was not measured.
Folder assumed_folder(const detail::FileSystem& system);

/// Returns the bytes per second of a number of writers of one file together. It is interpolated
/// between measured numbers, and constant beyond them.
double rate_of(const Folder& folder, double writers, bool durable);

/// Reads a calibration file.
/// @param name  file name, for messages
/// @return TW_OK; TW_ESETTING, which names the file and the key
detail::Status parse_machine(std::string_view content, const std::string& name, Machine& machine);

/// Formats a calibration file.
/// @param remark  text for the first line: where the figures come from
std::string text_of(const Machine& machine, const std::string& remark);

}  // namespace thalweg::planning
