// What a machine can do: how fast it packs, sends and writes. Assumed for a kind of file system, or
// measured (a calibration file). Pure: neither MPI nor files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/posix/file_system.hpp"

namespace thalweg::planning {

/// What a folder of a file system takes. Rates are bytes per second of all writers of one file
/// together, by their number.
struct Folder {
    std::string path;         ///< absolute; empty: of assumed figures
    std::string file_system;  ///< as FileSystem::name
    double create = 0;        ///< seconds to create a file and remove it
    double rename = 0;        ///< seconds
    double call = 0;          ///< seconds of a write, besides those of its bytes
    double request = 0;       ///< seconds of the servers' answer, for which the last write waits
    double lock = 0;          ///< seconds that a write takes more, if others write its block, too
    double locks = 0;         ///< servers; each hands over one block at a time; 0: not known
    double processor = 1;     ///< seconds of a processor in a second of writing
    double node_rate = 0;     ///< most that one node writes; 0: no limit but those below
    std::vector<double> writers;  ///< ascending
    std::vector<double> rate;     ///< without fsync: what memory takes, on a local disk
    std::vector<double> durable;  ///< with an fsync

    bool operator==(const Folder&) const = default;
};

struct Machine {
    // of the run that measured it; 0: assumed
    int ranks = 0, nodes = 0, cores = 0;
    double pack = 4e9;        ///< bytes per second that one core reorders and converts
    double pack_node = 20e9;  ///< the same of all ranks of a node together
    double agree = 5e-6;      ///< seconds in which the ranks of a node agree
    double latency = 3e-6;    ///< seconds of a short message between nodes
    double message = 5e9;     ///< bytes per second out of a node, or into it
    double inside = 1e10;     ///< bytes per second of messages inside a node, of all its ranks
    double compress = 1e8;    ///< bytes per second that one core compresses
    double run = 5e-9;        ///< seconds of a run of a list of indices, besides those of its bytes
    std::vector<Folder> folders;

    bool operator==(const Machine&) const = default;
    bool measured() const { return ranks > 0; }
    /// What was measured in the folder of a path, or the nearest one above it, or in any other of
    /// the same file system; null if there is none.
    const Folder* folder_of(const std::string& path, const std::string& file_system) const;
};

/// Rough figures for a file system of which nothing was measured.
Folder assumed_folder(const detail::FileSystem& system);

/// Bytes per second of some writers of one file together: between the numbers that were measured in
/// proportion, beyond them no more than there.
double rate_of(const Folder& folder, double writers, bool durable);

/// Reads a calibration file. @param name  of the file, for messages
/// @return TW_OK; TW_ESETTING, which names the file and the key
detail::Status parse_machine(std::string_view content, const std::string& name, Machine& machine);

/// The text of a calibration file. @param remark  what it was made from; its first line
std::string text_of(const Machine& machine, const std::string& remark);

}  // namespace thalweg::planning
