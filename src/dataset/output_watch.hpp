// What the outputs of a file take: by that, service=auto goes on in the background, and the next
// file of the session is planned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset/choose_all.hpp"

namespace thalweg::detail {

/// The slowest rank's of all that costs time, and of what the model does meanwhile the fastest
/// one's.
/// @note Collective
OutputTimes agree_on(Team& team, const OutputTimes& mine);

class OutputWatch {
public:
    /// @param chosen  for the file, which goes into data mode
    OutputWatch(FileContext& file, const ChosenAll& chosen)
        : file_(file),
          may_change_(chosen.may_change),
          proposed_(chosen.proposed),
          computing_(file.session.computing()) {}

    /// Whether the service may change.
    bool may_change() const { return may_change_; }
    /// A step of the file has ended.
    /// @param seconds  that this rank has spent in calls for it
    void note_step(double seconds) {
        if (file_.figures.steps == 1) first_step_ = seconds;
    }
    /// Whether a step has ended after which the service may change: the 2nd, 4th, 8th, ..., or the
    /// one that the setting names. The same on every rank.
    bool is_due() const;
    /// Then; the ranks have just met. The service changes once.
    /// @param figures  of this rank
    /// @param times    receives what was measured, where that decides
    /// @note Collective
    bool is_time_to_change(const FileFigures& figures, OutputTimes& times);
    /// What became of the service, for the log and the summary.
    void note_service(const OutputTimes& times, std::int64_t record);
    /// The file is complete.
    /// @param good  all of it was written, as steps
    void note_end(const FileFigures& figures, bool good);

private:
    OutputTimes output_times(const FileFigures& figures) const;
    void note_steps(const FileFigures& figures) const;

    FileContext& file_;
    bool may_change_;              ///< service=auto: to background, once that pays
    planning::Proposed proposed_;  ///< by the cost model
    double computing_;             ///< of the session when data mode began
    double first_step_ = 0;        ///< seconds in the calls that made and ended it
};

}  // namespace thalweg::detail
