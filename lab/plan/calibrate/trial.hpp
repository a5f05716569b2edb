// Measures how some of the ranks write to a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "plan/calibrate/machine.hpp"

namespace thalweg::planning {

/// A pattern of writing, and the measured rates in bytes per second of all writers together.
struct Pattern {
    int writers = 1;        ///< number of writers, spread over the ranks in node order
    std::int64_t size = 0;  ///< bytes of a write
    bool durable = false;   ///< a round ends with an fsync
    /// Writers in pairs, one from the first and one from the second half of the ranks, write
    /// alternate parts of the file.
    bool interleaved = false;
    bool first_ranks = false;                     ///< the writers are the first ranks instead of
                                                  ///< being spread
    std::int64_t most = std::int64_t(128) << 20;  ///< largest number of bytes of a writer in a
                                                  ///< round
    std::int64_t bytes = 0;                       ///< bytes of each writer in a round; 0: not known
                                                  ///< yet
    std::vector<double> rates{};

    double rate() const;
    /// Returns the seconds that a write takes while each writer writes.
    double seconds_of_write() const {
        return static_cast<double>(writers) * static_cast<double>(size) / rate();
    }
};

/// A file that ranks write repeatedly to measure patterns.
class Trial {
public:
    Trial(detail::Team& team, const std::string& folder);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    /// Measures rounds for some seconds, but at least one.
    /// @note Collective
    detail::Status measure(Pattern& pattern, double seconds);
    /// Writes as many bytes as the largest round, because memory and disk are slow at their first
    /// use.
    /// @note Collective
    detail::Status warm_up();
    /// Measures creating, renaming and removing files.
    /// @note Collective
    detail::Status names(double seconds, Folder& folder);
    /// Finds the largest number of bytes for a round that the disk has space for.
    /// @note Collective
    detail::Status find_room();
    /// Returns the processor time in seconds that the first writer needed per second of the last
    /// round.
    double processor() const { return processor_; }

private:
    detail::Status round(const Pattern& pattern, std::int64_t bytes, double& seconds);
    detail::Status write(const Pattern& pattern, int writer, std::int64_t bytes);

    detail::Team& team_;
    std::string path_;
    std::unique_ptr<detail::Memory> data_;
    std::int64_t room_ = 0;
    double processor_ = 1;
};

}  // namespace thalweg::planning
