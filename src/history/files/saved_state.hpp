// The state of a history in restarts: numbers as one attribute, sums as variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "history/files/choices.hpp"
#include "history/files/records.hpp"
#include "history/selection/region_picks.hpp"

namespace thalweg::history {

/// Begin of the names of a restart's attributes that have the states of histories. The number of
/// the history, among those of the session that were open, follows.
inline constexpr char state_attributes[] = "thalweg_history_";

/// Removes a stream from the text of a state, so that it begins anew at the restart.
/// @param files  receives the paths of its files that are not complete
/// @return TW_OK, TW_ENOTFOUND (there is no such stream), TW_EFORMAT
Status forget_stream(const std::string& stream, std::string& text, Names& files);

/// The parts of a history whose state a restart keeps.
struct SavedState {
    Ranks& ranks;
    const FileContext& context;
    Streams& streams;
    Choices& choices;
    RegionPicks& picks;

    /// @param mine      this rank's own failure so far
    /// @param previous  time of the last step that has ended
    /// @note Collective
    Status save(tw_restart restart, const Status& mine, std::optional<Time> previous);
    /// @param make_again  makes the streams again whose stations are known; local
    /// @param previous  receives the time of the last step that had ended
    /// @param broken    receives a failure before which streams may have changed; the same on every
    ///                  rank
    /// @note Collective
    Status load(tw_file file, Status mine,
                const std::function<Status(const std::set<const RegionPick*>&)>& make_again,
                Records& records, std::optional<Time>& previous, Status& broken);
};

}  // namespace thalweg::history
