// The state of a history in restarts: numbers as one attribute, sums as variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
Status forget_stream(const std::string& stream, std::string& text, std::vector<std::string>& files);

class SavedState {
public:
    SavedState(Ranks& ranks, const FileContext& context, Streams& streams, Choices& choices,
               RegionPicks& picks)
        : ranks_(ranks), context_(context), streams_(streams), choices_(choices), picks_(picks) {}

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

private:
    /// Lists the properties of a stream that must be the same after a restart, as keys and values.
    std::vector<std::pair<std::string, std::string>> describe(OutputStream& stream) const;
    Status gather(const Status& mine, std::vector<VariableState>& states);
    Status save_arrays(tw_restart restart, tw_file file);
    Status read(tw_file file, nlohmann::json& state) const;
    Status compare(const nlohmann::json& state) const;
    void take(const nlohmann::json& state, std::optional<Time>& previous);
    Status resume(tw_file file, const nlohmann::json& state, Records& records,
                  std::optional<Time>& previous);
    Status load_arrays(tw_file file, const nlohmann::json& state);
    Status resume_outputs(const nlohmann::json& state, Records& records);

    Ranks& ranks_;
    const FileContext& context_;
    Streams& streams_;
    Choices& choices_;
    RegionPicks& picks_;
};

}  // namespace thalweg::history
