// Times, bytes and counts of a file and of a session, cheap enough to be always on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "storage/write_counts.hpp"

namespace thalweg::detail {

/// The value chosen for a setting of a file, and the reason.
struct ChosenSetting {
    std::string name;
    std::string asked;   ///< value that was asked for, often "auto"
    std::string value;   ///< value in use
    std::string reason;  ///< empty if the value is the one asked for
};

/// One rank's figures of one file.
struct FileFigures {
    std::string path, method, storage, service, format;
    std::string why_service;  ///< reason for the service, if it was not asked for
    int writers = 0;
    int threads = 1;  ///< number of threads that copy
    std::int64_t steps = 0;
    std::vector<ChosenSetting> settings;  ///< settings, the same on every rank
    // Seconds:
    double open = 0;   ///< in tw_create and at the end of the definitions
    double plan = 0;   ///< part of `open`: planning the exchange
    double put = 0;    ///< in tw_put: checks and copies
    double remap = 0;  ///< packing, messages and unpacking
    double wait = 0;   ///< waiting until others have packed or written, and agreements
    double write = 0;  ///< in the storage
    double close = 0;
    double queue_wait = 0;   ///< waiting for room in the queue
    double drain = 0;        ///< waiting until the writers have written the queued data
    double busy = 0;         ///< work of the queue's writers, writes included
    double step = 0;         ///< in tw_end_step and tw_sync, in total
    std::int64_t bytes = 0;  ///< written by this rank
    std::int64_t writes = 0;
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    std::int64_t queue_waits = 0;       ///< calls that found the queue full
    std::int64_t queue_bytes = 0;       ///< most bytes in the queue at a time
    std::int64_t queue_room = 0;        ///< capacity of the queue
    std::int64_t queue_units = 0;       ///< number of units handed to the writers
    std::int64_t queue_unit_bytes = 0;  ///< bytes in the queue at these times, added up
    WriteSizes sizes{};                 ///< sizes of the writes
    std::int64_t staging_bytes = 0;     ///< peak of copies of put data
    std::int64_t buffer_bytes = 0;      ///< exchange buffers of the node, this rank's share
};

/// One rank's figures of one file that is read.
struct ReadFigures {
    std::string path, format;
    int readers = 0;
    std::int64_t reads = 0;  ///< number of calls that read
    // Seconds:
    double open = 0;
    double read = 0;          ///< in these calls
    double file = 0;          ///< in the file system, including the background
    double unpack = 0;        ///< copying to arrays and messages
    double wait = 0;          ///< waiting until others have read or received
    std::int64_t bytes = 0;   ///< read by this rank
    std::int64_t calls = 0;   ///< calls of the file system
    std::int64_t ahead = 0;   ///< bytes that were read ahead and then asked for
    std::int64_t unused = 0;  ///< bytes that were read and never asked for
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

/// One rank's figures of all closed files of a session. Keeps those of the first files and adds up
/// the others: the same ones on every rank, as all ranks close files in the same order.
class AllFigures {
public:
    /// Most files written, and most files read, whose figures are kept.
    static constexpr std::size_t most = 1000;

    void add(FileFigures figures);
    void add(ReadFigures figures);

    std::vector<FileFigures> files;
    std::vector<ReadFigures> inputs;
    std::string servers_reason;                      ///< reason for servers=auto; else empty
    double elapsed = 0;                              ///< seconds since tw_init
    double in_calls = 0;                             ///< part of `elapsed` in calls of the library
    std::int64_t other_files = 0, other_inputs = 0;  ///< number of files that were added up
    FileFigures of_other_files;                      ///< sums; of memory, the maximum
    ReadFigures of_other_inputs;
};

/// Most ranks whose times a summary lists one by one; more ranks are listed as this many groups.
constexpr int most_rank_rows = 256;

/// Returns the peak resident memory of this process in bytes (VmHWM).
std::int64_t peak_memory();

/// Returns the figures of all files over all ranks as JSON: seconds are the slowest rank's, bytes
/// and counts are sums, peaks are the largest rank's. The same text on every rank.
/// @note Collective
std::string summarize(Comm& comm, const AllFigures& all);

/// Formats the JSON summary as a table.
std::string summary_table(const std::string& json);

}  // namespace thalweg::detail
