// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/writer_state.hpp"

namespace thalweg::detail {

/// Sets one of the errors, unless there is one already.
void WriterState::set(Status& error, const Status& status) {
    {
        const std::lock_guard lock(mutex_);
        if (error.ok()) error = status;
    }
    sources_.fail(status);
    events_.report();
}

void WriterState::fail(const Status& status) { set(failed_, status); }

void WriterState::hear(const Status& status) { set(heard_, status); }

void WriterState::fail_here(Status status) {
    reword(status, "{} (rank {})", status.text, OfRank{rank_});
    fail(status);
}

Status WriterState::stopped() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

Status WriterState::failure() const {
    {
        const std::lock_guard lock(mutex_);
        if (!failed_.ok()) return failed_;
        if (!heard_.ok()) return heard_;
    }
    return sources_.failure();
}

void WriterState::note_counts(const WriteCounts& counts, double seconds) {
    const std::lock_guard lock(mutex_);
    const double busy = counts_.busy + seconds;
    counts_ = counts;
    counts_.busy = busy;
}

WriteCounts WriterState::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace thalweg::detail
