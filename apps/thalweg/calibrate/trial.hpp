// Measures how some of the ranks write to a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "planning/machine.hpp"

namespace thalweg::app {

/// A way to write, and the rates that were measured, in bytes per second of all writers.
struct Pattern {
    int writers = 1;           ///< spread over the ranks in node order
    std::int64_t size = 0;     ///< bytes of a write
    bool durable = false;      ///< ends with an fsync
    bool interleaved = false;  ///< two writers, half of all apart, write by turns
    bool first_ranks = false;  ///< the writers are not spread, but the first ranks
    std::int64_t most = std::int64_t(128) << 20;  ///< bytes of a writer in a round
    std::int64_t bytes = 0;                       ///< bytes of a writer in a round; 0: not known
    std::vector<double> rates{};

    double rate() const;
    /// Returns the seconds of one write of each writer.
    double seconds_of_write() const {
        return static_cast<double>(writers) * static_cast<double>(size) / rate();
    }
};

/// A file that the ranks write in turns of measurements.
class Trial {
public:
    Trial(detail::Team& team, const std::string& folder);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    /// Adds rounds for some seconds, one at least. @note Collective
    detail::Status measure(Pattern& pattern, double seconds);
    /// Writes as much as any round does: memory and disk are slow the first time. @note Collective
    detail::Status warm_up();
    /// Creates, renames and removes files. @note Collective
    detail::Status names(double seconds, planning::Folder& folder);
    /// Finds the largest number of bytes of a round for which there is room. @note Collective
    detail::Status find_room();
    /// Returns the processor seconds of the first writer per second of writing in the last round.
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

}  // namespace thalweg::app
