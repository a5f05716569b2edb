// The progress of a command, for users who wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::app {

/// One line on standard error that is overwritten, and removed at the end; nothing if standard
/// error does not lead to a terminal, directly or through the launcher that started this rank.
class Progress {
public:
    /// Begins the line.
    /// @param total  all the work, in any unit
    /// @param rank   only rank 0 shows it
    Progress(std::int64_t total, int rank);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Adds work that was done. @param what  name of the work, which is shown
    void add(std::int64_t done, const std::string& what);

private:
    bool shown_;
    std::int64_t total_, done_ = 0;
    double next_ = 0;  ///< time of the next update
};

}  // namespace thalweg::app
