// The variables of streams, and their samples: those of the open window, and of a window that ended
// before the step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "definitions/packing.hpp"
#include "history/calendar/window.hpp"
#include "history/maps/mapping.hpp"
#include "history/reductions/reduction.hpp"
#include "history/selection/step_values.hpp"
#include "history/statistics/accumulator.hpp"

namespace thalweg::history {

/// The numbers of a variable that go into a restart, as an array of 64-bit fields; those of the
/// samples are the same on all ranks that hold elements.
struct VariableState {
    std::int64_t log = 0;   ///< hash of the times and weights of the window's samples
    std::int64_t ever = 0;  ///< 1: it was sent since the history's start
    DurationWeight weight, inner_weight;
    StateNumbers numbers;
    std::int64_t wanted = 0;  ///< 1: the window has had a step whose sample is taken
    std::int64_t failed = 0;  ///< a bit for each error code: the errors of the window's samples

    using Fields = std::array<std::int64_t, 13>;
    Fields fields() const { return std::bit_cast<Fields>(*this); }
};

/// A statistic of a field in a stream.
struct SampledField : StreamField {
    Field& field;
    /// Rules of the windows: those of the stream, or with an inner operation of its own.
    WindowRules rules;
    const Taken& taken;  ///< elements
    Value fill{};        ///< value of elements without a result
    /// Reduction of the results at each record; null: there is none.
    std::shared_ptr<const Reduction> reduction;
    std::shared_ptr<const Mapping> mapping;  ///< map of results or samples; null: there is none

    bool maps_results() const { return mapping != nullptr && !reduces_samples; }
    /// Tests if ranks compute the values of records together.
    bool joins() const { return reduction != nullptr || maps_results(); }
    bool once() const { return statistic.op == Op::once; }
    bool instant() const { return statistic.op == Op::instant || once(); }
};

struct RecordSamples {
    std::int64_t log = 0;  ///< hash of their times and weights; 0: there are none
    bool wanted = false;   ///< a sample was wanted
    Status failure;        ///< reason why the samples cannot be used
};

class Samples final : public SampleTaker {
public:
    using Number = std::optional<std::int64_t>;

    Samples(const SampledField& variable, Weights given);

    std::int64_t bytes() const { return variable_.instant() ? 0 : sums_->bytes(); }
    /// Begins a step. Completes windows that ended before, unless its sample counts there.
    /// @param waits  not all of the elements will be written
    void begin_step(const Step& step, bool waits);
    bool wants() const override { return splits() ? step_.used() : step_.takes; }
    void take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
              bool last) override;
    void end_step();

    /// @param before  number of the record's window, if it ended before the step
    RecordSamples record(Number before) const;
    void fail(Status why) override {
        keep_first(divided_ ? sample_failure_ : failure_, std::move(why));
    }
    void end_inner(Time begin, Time end);
    bool ever() const { return state_.ever != 0; }
    void set_ever() { state_.ever = 1; }
    /// Returns the results that ranks have to combine or exchange; null if there are none.
    RecordValues* joined(Number before) { return results(before).joined.get(); }
    /// Computes the values of the record, dense in the order of the chosen part; or of all groups
    /// of a reduction, which have been combined.
    /// @param before  as for record()
    /// @param values  receives the values, which stay until end_record()
    /// @return TW_OK, TW_ERANGE
    Status result(Number before, const void*& values);
    /// Drops the record of a window that ended before the step; or those of all such windows and
    /// that of the step, so that the next window begins.
    void end_record(Number before);

    VariableState state() const;
    void set_state(const VariableState& state);
    /// Takes over the samples of a variable that had other elements.
    /// @param places  position of each element among those of the other variable
    void take_over(Samples& other, const std::vector<std::int64_t>& places);
    /// Sets the time from which the duration of the first sample counts.
    void begin_at(Time time) { state_.weight.previous = state_.inner_weight.previous = time; }
    std::vector<StateArray> arrays();
    /// Converts numbers of valid samples to weights, see Accumulator::weigh().
    void weigh(std::int64_t bits) {
        if (sums_) sums_->weigh(bits);
    }

private:
    /// Results of a window that has had its last sample.
    struct Results {
        Status status;
        const void* values = nullptr;
        std::shared_ptr<RecordValues> joined;
    };
    /// State of a record that is due at the end of the step, although its window ended before.
    struct Before : Results {
        RecordSamples samples;
        std::vector<char> copy;  ///< values
        bool ended = false;
    };

    bool splits() const { return variable_.rules.passes; }
    Time begin_of(const StepPart& part) const;
    double weight_of(const StepPart& part, Time end);
    void begin_sample(const StepPart& part, Time end);
    void add(const SentBox& box);
    void end_sample();
    void end_part(const StepPart& part);
    void take_parts(bool sent);
    Results& results(Number number);
    void finish();
    std::shared_ptr<RecordValues> join(Status& status);
    void reset();

    const SampledField& variable_;
    /// For an instant, exists only between the sample and the end of the record.
    std::optional<Accumulator> sums_;
    VariableState state_;
    Step step_;
    bool waits_ = false;  ///< not all of the elements will be written
    /// The sample counts in several windows, so it is kept until all of its boxes were sent.
    bool divided_ = false;
    std::vector<char> sample_;
    Status failure_, sample_failure_;
    std::optional<double> own_weight_;  ///< weight of the sample that the model has sent
    Time sample_time_ = 0;
    Time whole_ = 0;                         ///< time for which the sample stands
    std::map<std::int64_t, Before> before_;  ///< by the numbers of the windows
    std::optional<Results> results_;
    /// Copy of a row whose stride in bytes is no multiple of the element size.
    std::vector<char> row_;
};

/// A statistic of a field in a stream: a variable of its files.
struct Variable : SampledField {
    Variable(SampledField sampled, Weights weights)
        : SampledField(std::move(sampled)),
          attributes(field.attributes),
          samples(*this, std::move(weights)) {}

    /// Sets the pick from which the elements come.
    /// @param names  coordinates whose dimensions the pick replaces
    void set_pick(const Pick& of, const Names& names);
    /// Returns the elements in the file: those of the samples, of a map's target, or the groups of
    /// a reduction.
    const Taken& written() const {
        return reduction ? reduction->results() : mapping ? mapping->results() : taken;
    }
    /// Returns the names in the file, without time.
    Names dims() const;
    /// Removes attributes that name dimensions which a reduction or map has removed, and adds those
    /// of the map.
    void set_reduced(const Coordinates& coordinates, Names units);
    /// Tests if its samples count in other steps or windows than those of the stream.
    bool has_own_steps() const { return inner || is_difference(statistic.op); }
    /// Tests if it is the first variable of its name: others have the other bins of a cycle.
    bool is_first() const { return bin <= 0; }
    /// Tests if this rank holds elements of the variable, which it must send.
    bool held() const { return taken.elements > 0; }
    /// Ignores the time before this one, at which the stream began.
    void begin_at(Time time) {
        rules.from = time;
        samples.begin_at(rules.begin());
    }

    Attributes attributes;  ///< those of the field that apply to the elements
    Pick pick;
    Names weight_units;       ///< units of the weights of a reduction
    detail::Packing packing;  ///< storage in netCDF-4 files
    Samples samples;
};

}  // namespace thalweg::history
