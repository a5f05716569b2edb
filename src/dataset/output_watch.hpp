// Measures the cost of a file's outputs. With service=auto, it decides when the file moves to the
// background.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose_all.hpp"

namespace thalweg::detail {

class OutputWatch {
public:
    /// @param chosen  choices that were made for the file
    OutputWatch(FileContext& file, const ChosenAll& chosen)
        : file_(file),
          may_change_(chosen.may_change),
          free_processors_(chosen.free_processors),
          computing_(file.session.computing()) {}

    /// Tests if the service of this file can still change.
    bool may_change() const { return may_change_; }
    /// Tests if the service may change after the step that has just ended: after the 2nd, 4th, 8th,
    /// ... step, or after the one that the setting names. The same on every rank.
    bool is_due() const;
    /// Tests if the service should change now. Must be called if is_due() is true, directly after
    /// an agreement of the ranks. The service changes only once.
    /// @param figures  figures of this rank
    /// @param threads  largest number of writing threads on any node
    /// @param times    receives the measurements if the result depends on them
    /// @note Collective
    bool is_time_to_change(const FileFigures& figures, int threads, OutputTimes& times);
    /// Records in the log and the summary that the service has changed.
    void note_service(const OutputTimes& times, std::int64_t record);
    /// Adds the measurements of this file's outputs to those of the session. Local.
    void note_end(const FileFigures& figures);

private:
    OutputTimes output_times(const FileFigures& figures) const;

    FileContext& file_;
    bool may_change_;      ///< with service=auto: the service can still change to background
    int free_processors_;  ///< number of free processors on a node, which threads can use to write
    double computing_;     ///< computing time of the session when data mode began, in seconds
};

}  // namespace thalweg::detail
