// Measures what the outputs of a file take. With service=auto they decide when it goes on in the
// background.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose_all.hpp"

namespace thalweg::detail {

class OutputWatch {
public:
    /// @param chosen  for the file, which goes into data mode
    OutputWatch(FileContext& file, const ChosenAll& chosen)
        : file_(file),
          may_change_(chosen.may_change),
          free_processors_(chosen.free_processors),
          computing_(file.session.computing()) {}

    /// Whether the service may change.
    bool may_change() const { return may_change_; }
    /// Whether a step has ended after which the service may change: the 2nd, 4th, 8th, ..., or the
    /// one that the setting names. The same on every rank.
    bool is_due() const;
    /// Then; the ranks have just met. The service changes once.
    /// @param figures  of this rank
    /// @param threads  that would write, on the node that has most
    /// @param times    receives what was measured, where that decides
    /// @note Collective
    bool is_time_to_change(const FileFigures& figures, int threads, OutputTimes& times);
    /// What became of the service, for the log and the summary.
    void note_service(const OutputTimes& times, std::int64_t record);
    /// Adds this file's outputs to those of the session. Local.
    void note_end(const FileFigures& figures);

private:
    OutputTimes output_times(const FileFigures& figures) const;

    FileContext& file_;
    bool may_change_;      ///< service=auto: to background, once that pays
    int free_processors_;  ///< of a node, for threads that write
    double computing_;     ///< of the session when data mode began
};

}  // namespace thalweg::detail
