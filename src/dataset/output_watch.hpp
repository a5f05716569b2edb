// Measures the cost of a file's outputs. With service=auto, it decides when the file moves to the
// background.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose_all.hpp"

namespace thalweg::detail {

class OutputWatch {
public:
    /// @param chosen  choices for the file, which enters data mode
    OutputWatch(FileContext& file, const ChosenAll& chosen)
        : file_(file),
          may_change_(chosen.may_change),
          free_processors_(chosen.free_processors),
          computing_(file.session.computing()) {}

    /// Tests if the service may change.
    bool may_change() const { return may_change_; }
    /// Tests if a step has ended after which the service may change: the 2nd, 4th, 8th, ..., or the
    /// one that the setting names. The same on every rank.
    bool is_due() const;
    /// Tests if the service should change now; called if is_due(), right after an agreement of the
    /// ranks. The service changes only once.
    /// @param figures  figures of this rank
    /// @param threads  number of writing threads on the node that has most
    /// @param times    receives the measurements, if they decide
    /// @note Collective
    bool is_time_to_change(const FileFigures& figures, int threads, OutputTimes& times);
    /// Notes that the service has changed, for the log and the summary.
    void note_service(const OutputTimes& times, std::int64_t record);
    /// Adds this file's outputs to those of the session. Local.
    void note_end(const FileFigures& figures);

private:
    OutputTimes output_times(const FileFigures& figures) const;

    FileContext& file_;
    bool may_change_;      ///< with service=auto: the service may change to background
    int free_processors_;  ///< free processors of a node, on which threads can write
    double computing_;     ///< the session's computing time when data mode began
};

}  // namespace thalweg::detail
