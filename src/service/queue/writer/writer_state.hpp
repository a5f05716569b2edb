// Messages between a writer and other threads while it works: errors, and the counts of its writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "service/queue/writer/unit_sources.hpp"
#include "service/queue/writer/unit_writer_events.hpp"

namespace thalweg::detail {

/// Any thread may call these functions.
class WriterState {
public:
    /// @param rank  rank of the writer, for messages
    WriterState(int rank, const UnitWriterSources& sources, UnitWriterEvents& events)
        : rank_(rank), sources_(sources), events_(events) {}

    /// Stops the writer, and informs the ranks of its node.
    void fail(const Status& status);
    /// Stops the writer with an error of its own, to which its rank is added.
    void fail_here(Status status);
    /// Informs the writer of an error elsewhere. It still writes the units that all ranks have
    /// published.
    void hear(const Status& status);
    /// Returns the error for which the writer has stopped.
    Status stopped() const;
    /// Returns the error for which the writer has stopped, or an error elsewhere.
    Status failure() const;

    /// @param seconds  duration of the work since the last call
    void note_counts(const WriteCounts& counts, double seconds);
    WriteCounts counts() const;

private:
    void set(Status& error, const Status& status);

    int rank_;
    const UnitWriterSources& sources_;
    UnitWriterEvents& events_;
    mutable std::mutex mutex_;  ///< guards the members below
    Status failed_;             ///< error for which the writer has stopped
    Status heard_;              ///< error elsewhere
    WriteCounts counts_;
};

}  // namespace thalweg::detail
