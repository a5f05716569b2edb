// What the outputs of a file take: by that, service=auto goes on in the background, and the next
// file of the session is planned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "choose/choose_all.hpp"

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
          free_processors_(chosen.free_processors),
          proposed_(chosen.proposed),
          computing_(file.session.computing()),
          skips_(file.session.outputs.outputs == 0) {}

    /// Whether the service may change.
    bool may_change() const { return may_change_; }
    /// A step of the file has ended.
    /// @param seconds  that this rank has spent in the file's calls so far
    /// @param usual    it had records only, no variables of fixed size
    void note_step(double seconds, bool usual);
    /// The time of the steps to come begins. @param seconds  as for note_step()
    void count_from(double seconds) { counted_ = {0, 0, seconds}; }
    /// Seconds in the file's calls that are of no step.
    void leave_out(double seconds) { counted_.until += seconds; }
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
    /// Whether one has ended after which method and writers may change: the 4th, 8th, 16th, ... of
    /// a file for which the cost model was asked. The same on every rank.
    bool way_is_due() const;
    /// Then; the ranks have just met.
    /// @param can       whether what this rank has put could be written otherwise
    /// @param proposal  receives the other way
    /// @note Collective
    bool is_time_for_another_way(bool can, planning::Proposal& proposal);
    /// How the file is written now, for the log and the summary.
    void note_way(const planning::Proposal& proposal, std::int64_t record);
    /// Method and writers stay as they are.
    void keep_way() { proposed_ = {}; }
    /// The file is complete.
    /// @param good  all of it was written, as steps
    void note_end(const FileFigures& figures, bool good);

private:
    OutputTimes output_times(const FileFigures& figures) const;
    void note_steps() const;

    FileContext& file_;
    bool may_change_;              ///< service=auto: to background, once that pays
    int free_processors_;          ///< of a node, for threads that write
    planning::Proposed proposed_;  ///< by the cost model
    double computing_;             ///< of the session when data mode began
    bool skips_;                   ///< the step to come meets memory that nobody has touched before
    struct {
        std::int64_t steps = 0;
        double seconds = 0;  ///< that they took
        double until = 0;    ///< seconds in the file's calls when the last step ended
    } counted_;              ///< steps that are noted next
};

}  // namespace thalweg::detail
