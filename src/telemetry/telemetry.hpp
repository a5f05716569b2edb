// Times, bytes and counts of a file and of a session, cheap enough to be always on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "storage/write_counts.hpp"

namespace thalweg::detail {

/// A setting of a file: the value that was chosen, and the reason.
struct ChosenSetting {
    std::string name;
    std::string asked;   ///< value that the user asked for, often "auto"
    std::string value;   ///< value in use
    std::string reason;  ///< reason for the choice; empty if the value is the one asked for
};

/// Seconds that a rank spent on a file that is written, by activity.
struct FileTimes {
    enum Activity {
        open,   ///< tw_create, and leaving define mode
        plan,   ///< part of `open`: planning the exchange
        put,    ///< tw_put, for checks and copies
        remap,  ///< packing, sending and unpacking data
        wait,   ///< waiting for other ranks to pack, write or agree
        write,  ///< the storage driver
        close,
        step,   ///< tw_end_step and tw_sync
        drain,  ///< waiting until the queue was written, for example in tw_close
        busy    ///< work of the queue's writers, including writes
    };
    static constexpr std::array names{"open",  "plan",  "put",  "remap", "wait",
                                      "write", "close", "step", "drain", "busy"};
    std::array<double, names.size()> seconds{};

    double& operator[](Activity activity) { return seconds[activity]; }
    double operator[](Activity activity) const { return seconds[activity]; }
};

/// Figures of a rank's queue.
struct QueueFigures {
    std::int64_t waits = 0;       ///< number of calls that found the queue full
    double wait_seconds = 0;      ///< seconds of waiting for space
    std::int64_t most_bytes = 0;  ///< largest number of bytes in the queue
    std::int64_t room = 0;        ///< capacity in bytes
    std::int64_t units = 0;       ///< number of units passed to the writers
    /// Sum, over these units, of the bytes in the queue when the unit was passed.
    std::int64_t unit_bytes = 0;
};

/// Figures of one file on one rank.
struct FileFigures {
    std::string path, method, storage, service, format;
    /// Reason why this service was chosen; empty if the user asked for it.
    std::string why_service;
    std::vector<ChosenSetting> settings;  ///< settings, the same on every rank
    int writers = 0;
    int threads = 1;  ///< number of threads that copy data
    std::int64_t steps = 0;
    FileTimes times;
    std::int64_t bytes = 0;  ///< bytes written by this rank
    std::int64_t writes = 0;
    WriteSizes sizes{};  ///< number of writes by size
    QueueFigures queue;
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
    /// Largest amount of put data that was kept in copies, in bytes.
    std::int64_t staging_bytes = 0;
    /// This rank's share of the node's exchange buffers, in bytes.
    std::int64_t buffer_bytes = 0;
};

/// Figures of one file that is read, on one rank.
struct ReadFigures {
    std::string path, format;
    int readers = 0;
    std::int64_t reads = 0;  ///< number of calls that read data
    // Seconds:
    double open = 0;
    double read = 0;  ///< seconds in these calls
    /// Seconds in the file system, including those of the thread that reads ahead.
    double file = 0;
    double unpack = 0;        ///< seconds of copying data to arrays and messages
    double wait = 0;          ///< seconds of waiting for other ranks to read or receive
    std::int64_t bytes = 0;   ///< bytes read by this rank
    std::int64_t calls = 0;   ///< number of read calls to the file system
    std::int64_t ahead = 0;   ///< bytes that were read ahead and used
    std::int64_t unused = 0;  ///< bytes that were read ahead and not used
    std::int64_t messages = 0;
    std::int64_t message_bytes = 0;
};

/// Figures of all closed files of a session, on one rank. Keeps the figures of the first files
/// separately, and adds up those of the others. All ranks close files in the same order, so they
/// keep the same files.
class AllFigures {
public:
    /// Largest number of files written, and of files read, whose figures are kept separately.
    static constexpr std::size_t most = 1000;

    void add(FileFigures figures);
    void add(ReadFigures figures);

    std::deque<FileFigures> files;
    std::deque<ReadFigures> inputs;
    /// Reason for the number of servers with servers=auto; otherwise empty.
    std::string servers_reason;
    double elapsed = 0;  ///< seconds since tw_init
    /// Part of `elapsed` that was spent in calls of the library.
    double in_calls = 0;
    /// Part of `in_calls` in which histories computed and agreed, without their files.
    double histories = 0;
    /// Number of files whose figures were added up.
    std::int64_t other_files = 0, other_inputs = 0;
    /// Figures of these files together: sums, but for memory the maximum.
    FileFigures of_other_files;
    ReadFigures of_other_inputs;
};

/// Largest number of ranks that a summary lists separately. More ranks are combined into this
/// number of groups.
constexpr int most_rank_rows = 256;

/// Returns the peak resident memory of this process in bytes (VmHWM).
std::int64_t peak_memory();

/// Returns the figures of all files over all ranks as JSON: seconds are those of the slowest rank,
/// bytes and counts are sums over the ranks, and peaks are maxima. The text is the same on every
/// rank.
/// @note Collective
std::string summarize(Comm& comm, const AllFigures& all);

/// Formats the JSON summary as a table.
std::string summary_table(const std::string& json);

}  // namespace thalweg::detail
