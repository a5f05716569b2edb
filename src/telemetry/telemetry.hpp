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
    std::string asked;   ///< value that the user asked for, often "auto"
    std::string value;   ///< value in use
    std::string reason;  ///< empty if the value in use is the one asked for
};

/// Figures of one file on one rank.
struct FileFigures {
    std::string path, method, storage, service, format;
    std::string why_service;  ///< reason for the service, if the user did not ask for it
    int writers = 0;
    int threads = 1;  ///< number of threads that copy
    std::int64_t steps = 0;
    std::vector<ChosenSetting> settings;  ///< settings, the same on every rank
    // Seconds:
    double open = 0;   ///< seconds in tw_create and at the end of the definitions
    double plan = 0;   ///< part of `open`: planning the exchange
    double put = 0;    ///< seconds in tw_put: checks and copies
    double remap = 0;  ///< seconds of packing, messages and unpacking
    /// Seconds of waiting until others have packed or written, and of agreements.
    double wait = 0;
    double write = 0;  ///< seconds in the storage
    double close = 0;
    double queue_wait = 0;   ///< seconds of waiting for room in the queue
    double drain = 0;        ///< seconds of waiting until the writers have written the queued data
    double busy = 0;         ///< seconds of work of the queue's writers, including writes
    double step = 0;         ///< seconds in tw_end_step and tw_sync, in total
    std::int64_t bytes = 0;  ///< bytes written by this rank
    std::int64_t writes = 0;
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    std::int64_t queue_waits = 0;       ///< number of calls that found the queue full
    std::int64_t queue_bytes = 0;       ///< most bytes in the queue at any time
    std::int64_t queue_room = 0;        ///< capacity of the queue
    std::int64_t queue_units = 0;       ///< number of units passed to the writers
    std::int64_t queue_unit_bytes = 0;  ///< sum over these units of the bytes in the queue
    WriteSizes sizes{};                 ///< sizes of the writes
    std::int64_t staging_bytes = 0;     ///< largest size of the copies of put data, in bytes
    /// Bytes of the node's exchange buffers, as this rank's share.
    std::int64_t buffer_bytes = 0;
};

/// Figures on one rank of one file that is read.
struct ReadFigures {
    std::string path, format;
    int readers = 0;
    std::int64_t reads = 0;  ///< number of calls that read
    // Seconds:
    double open = 0;
    double read = 0;          ///< seconds in these calls
    double file = 0;          ///< seconds in the file system, including the background
    double unpack = 0;        ///< seconds of copying to arrays and messages
    double wait = 0;          ///< seconds of waiting until others have read or received
    std::int64_t bytes = 0;   ///< bytes read by this rank
    std::int64_t calls = 0;   ///< number of calls of the file system
    std::int64_t ahead = 0;   ///< bytes that were read ahead and then requested
    std::int64_t unused = 0;  ///< bytes that were read and never requested
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

/// Figures on one rank of all closed files of a session. Keeps those of the first files separately,
/// and adds up those of the others. These are the same files on every rank, as all ranks close
/// files in the same order.
class AllFigures {
public:
    /// Largest number of files written, and of files read, whose figures are kept separately.
    static constexpr std::size_t most = 1000;

    void add(FileFigures figures);
    void add(ReadFigures figures);

    std::vector<FileFigures> files;
    std::vector<ReadFigures> inputs;
    /// Reason for the number with servers=auto; else empty.
    std::string servers_reason;
    double elapsed = 0;                              ///< seconds since tw_init
    double in_calls = 0;                             ///< part of `elapsed` in calls of the library
    std::int64_t other_files = 0, other_inputs = 0;  ///< number of files that were added up
    /// Sums over these files; for memory, the maximum.
    FileFigures of_other_files;
    ReadFigures of_other_inputs;
};

/// Largest number of ranks that a summary lists one by one; more are listed in this number of
/// groups.
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
