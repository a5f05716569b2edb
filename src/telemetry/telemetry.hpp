// Times, bytes and counts of a file and of a session, cheap enough to be always on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "storage/write_counts.hpp"

namespace thalweg::detail {

/// What a file's setting came to, and why.
struct ChosenSetting {
    std::string name;
    std::string asked;   ///< its value, as text: often "auto"
    std::string value;   ///< what is used
    std::string reason;  ///< empty where the value is what was asked for
};

/// One rank's figures of one file.
struct FileFigures {
    std::string path, method, storage, service, format;
    std::string why_service;  ///< of service=auto, or why it is not the one asked for
    int writers = 0;
    int threads = 1;  ///< that copy
    std::int64_t steps = 0;
    std::vector<ChosenSetting> settings;  ///< the same on every rank
    // seconds
    double open = 0;   ///< in tw_create and at the end of the definitions
    double plan = 0;   ///< of it: planning the exchange
    double put = 0;    ///< in tw_put: checks and copies
    double remap = 0;  ///< packing, messages and unpacking
    double wait = 0;   ///< until others had packed or written, and for agreements
    double write = 0;  ///< in the storage
    double close = 0;
    double queue_wait = 0;   ///< until the queue had room
    double drain = 0;        ///< until the writers had written what was in the queue
    double busy = 0;         ///< of the queue's writers at work, writes included
    double step = 0;         ///< in tw_end_step and tw_sync, all told
    std::int64_t bytes = 0;  ///< written by this rank
    std::int64_t writes = 0;
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    std::int64_t queue_waits = 0;       ///< calls that found the queue full
    std::int64_t queue_bytes = 0;       ///< most that was in the queue
    std::int64_t queue_room = 0;        ///< most that may be in it
    std::int64_t queue_units = 0;       ///< how often something was handed over to the writers,
    std::int64_t queue_unit_bytes = 0;  ///< and the bytes in the queue then, added up
    WriteSizes sizes{};                 ///< of the writes
    std::int64_t staging_bytes = 0;     ///< peak of copies of put data
    std::int64_t buffer_bytes = 0;      ///< exchange buffers of the node, this rank's share
};

/// One rank's figures of one file that is read.
struct ReadFigures {
    std::string path, format;
    int readers = 0;
    std::int64_t reads = 0;  ///< calls that read
    // seconds
    double open = 0;
    double read = 0;          ///< in these calls
    double file = 0;          ///< in the file system, also in the background
    double unpack = 0;        ///< in copying to arrays and messages
    double wait = 0;          ///< until others had read or taken
    std::int64_t bytes = 0;   ///< read by this rank
    std::int64_t calls = 0;   ///< of the file system
    std::int64_t ahead = 0;   ///< bytes that had been read when they were asked for
    std::int64_t unused = 0;  ///< bytes that were read, and not asked for
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

/// One rank's figures of all files of a session that are closed. The first ones stay as they are,
/// the others are added up: the same ones on every rank, as all ranks close files in the same
/// order.
class AllFigures {
public:
    /// Files, and files that are read, whose figures are kept.
    static constexpr std::size_t most = 1000;

    void add(FileFigures figures);
    void add(ReadFigures figures);

    std::vector<FileFigures> files;
    std::vector<ReadFigures> inputs;
    std::string servers_reason;                      ///< of servers=auto; else empty
    double elapsed = 0;                              ///< seconds since tw_init
    double in_calls = 0;                             ///< of them, in calls of the library
    std::int64_t other_files = 0, other_inputs = 0;  ///< how many were added up
    FileFigures of_other_files;                      ///< sums; of memory, the most
    ReadFigures of_other_inputs;
};

/// Ranks whose times a summary lists one by one. Of more, as many groups of neighbours are listed.
constexpr int most_rank_rows = 256;

/// Peak resident memory of this process in bytes (VmHWM).
std::int64_t peak_memory();

/// The figures of all files over all ranks, as JSON: seconds are the slowest rank's, bytes and
/// counts are sums, peaks are the largest rank's. The same text on every rank. @note Collective
std::string summarize(Comm& comm, const AllFigures& all);

/// The JSON summary as a table for people.
std::string summary_table(const std::string& json);

}  // namespace thalweg::detail
