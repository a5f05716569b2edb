// A history: the fields of a model, and the streams that take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "history/files/saved_state.hpp"
#include "history/joins.hpp"
#include "history/selection/region_picks.hpp"
#include "history/step_reduction.hpp"

namespace thalweg::history {

/// A history. Methods that are marked collective agree by Ranks::agree; all others are local.
class History {
public:
    History(Ranks& ranks, Table table, const RunTimes& run, std::string settings);
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    Declarations& declared() { return declared_; }
    /// @note Collective
    Status ready();

    Status set_time(double seconds);
    /// @param whole   the boxes are all boxes of this rank; otherwise there is one
    /// @param weight  null: the step's length
    Status send(Field& field, std::span<const SentBox> boxes, bool whole, tw_type type,
                const double* weight);
    /// @note Collective if a record is due
    Status end_step();

    /// @note Collective
    Status save(tw_restart restart);
    /// @note Collective
    Status load(tw_file file);
    /// @note Collective
    Status close();

    std::int64_t memory() const;
    tw_session session() const { return ranks_.session(); }

private:
    static constexpr Time never = std::numeric_limits<Time>::min();
    struct StepTimes {
        bool open = false;             ///< the step has begun and not ended
        std::optional<Time> previous;  ///< time of the last step that has ended
        Time now = 0;
        Time length = 0;       ///< length of the last step that has ended
        Status lost;           ///< reason why the time of this step was refused
        Time refused = never;  ///< the last time that was set, which perhaps was refused
        /// End of the last step whose time was refused, if it was as long as the one before.
        Time assumed = never;
    };
    /// Picks of a stream that replace the same dimensions, and have the same stations.
    struct PickGroup {
        std::set<const RegionPick*> picks;
        std::set<Field*> shows;  ///< fields that are missing on land
        bool is_due = false;     ///< a record needs the stations now
    };

    struct Reducing {
        Field* field;
        const Taken* taken;
        std::shared_ptr<const Reduction> reduction;  ///< reduces results; null: there is none
        std::shared_ptr<const Mapping> mapping;      ///< null: there is none
        Weights weights;
        Names units;  ///< units of the weights
    };

    Status begin_step(double seconds);
    Status feed(Field& field, std::span<const SentBox> boxes, bool whole, bool last,
                const double* weight);
    Status make_streams();
    Status make_variable(OutputStream& stream, const StreamField& about);
    Status find_local_times(const StreamTable& stream, const Field& field, const Pick& pick,
                            const Part& part, Weights& weights) const;
    Status make_variables(OutputStream& stream, const ResolvedStream& resolved);
    Status make_reduction(OutputStream& stream, const StreamField& about, Reducing& reducing);
    Status make_mapping(OutputStream& stream, StreamField& about, Reducing& reducing);
    Status reduce_samples();
    bool waits(OutputStream& stream) const;
    std::vector<PickGroup> waiting_groups(const std::vector<Due>& due) const;
    Status settle_land(const std::vector<Due>& due);
    Status make_again(const std::set<const RegionPick*>& found);
    /// Tests if the length of steps is known: that of the model, or of a step that has ended.
    bool knows_length() const { return step_.length > 0 || context_.run.step > 0; }
    void skip_to(Time time);
    Status end_lost_step();
    std::vector<Due> find_open();

    Ranks& ranks_;
    Table table_;
    FileContext context_;
    Declarations declared_;
    RegionPicks picks_{ranks_, table_, declared_};
    Choices choices_{table_, declared_};
    Groupings groupings_{ranks_, table_, declared_, choices_};
    Maps maps_{ranks_, table_, choices_};
    std::vector<ResolvedStream> resolved_;
    std::deque<StepReduction> reductions_;
    Streams streams_;
    /// Streams that take this step, and whose stations are not known before land is.
    std::vector<OutputStream*> waiting_;
    Records records_{context_, streams_};
    SavedState saved_state_{ranks_, context_, streams_, choices_, picks_};
    StepTimes step_;
    Status broken_;       ///< reason why streams could not be made again or continued; the same on
                          ///< every rank
    bool saved_ = false;  ///< nothing has been sent since the last tw_history_save
};

}  // namespace thalweg::history
