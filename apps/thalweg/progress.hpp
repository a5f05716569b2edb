// The progress of a command, for users who wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace thalweg::app {

/// Shows progress in one line on standard error, which is updated, and removed at the end. Shows
/// nothing if standard error does not lead to a terminal, directly or through the launcher of this
/// rank.
class Progress {
public:
    /// Begins the line.
    /// @param total amount of all work, in any unit
    /// @param rank this rank; only rank 0 shows the line
    Progress(std::int64_t total, int rank);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Adds work that was done. @param what  name of the work, which the line shows
    void add(std::int64_t done, const std::string& what);

private:
    bool shown_;
    std::int64_t total_, done_ = 0;
    double next_ = 0;  ///< time of the next update
};

/// Shows a line as Progress does, for work of unknown length: its name, and the seconds so far.
class Busy {
public:
    /// Shows the line. @param rank  this rank; only rank 0 shows the line
    explicit Busy(std::string what, int rank = 0);
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    void show_seconds(const std::string& what);

    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread thread_;  ///< not started if the line is not shown
};

}  // namespace thalweg::app
