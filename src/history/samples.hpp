// The samples of a variable: those of its open window, and of a window that ended before the step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "history/accumulator.hpp"
#include "history/field.hpp"
#include "history/window.hpp"

namespace thalweg::history {

/// The numbers of a variable that go into a restart; those of the samples are the same on all ranks
/// that hold elements.
struct VariableState {
    std::int64_t log = 0;     ///< hash of the times and weights of the window's samples
    std::int64_t ever = 0;    ///< 1: it was sent since the history's start
    std::int64_t failed = 0;  ///< a bit for each error code: the errors of the window's samples
    std::int64_t wanted = 0;  ///< 1: the window has had a step whose sample is taken
    DurationWeight weight, inner_weight;
    StateNumbers numbers;

    using Words = std::array<std::int64_t, 13>;
    Words to_words() const;
    static VariableState from_words(const Words& words);
};

/// A weight field's values of a step, for the elements of a variable.
struct Weights {
    Field* field = nullptr;                ///< field of the weights; null: there is none
    std::shared_ptr<const Chosen> chosen;  ///< elements of the weight field
    /// Position in the weight field of each of the variable's elements; empty: the same position.
    std::vector<std::int64_t> places;
};

/// The values of a weight field in the present step.
class StepWeights {
public:
    explicit StepWeights(Weights weights) : weights_(std::move(weights)) {}
    const Field* field() const { return weights_.field; }
    /// Checks that the weights have been sent in this step, if there is a field of them.
    /// @param weighted  name of the field that they weigh
    /// @return TW_OK, TW_ESTATE
    Status check(const std::string& weighted) const;
    /// Keeps boxes until the step ends. @param last  these are the last boxes
    void take(std::span<const SentBox> boxes, bool last);
    void end_step();
    /// Returns the weight of each of the variable's elements; empty if there is no weight field.
    const std::vector<double>& values() const { return values_; }

private:
    Weights weights_;
    std::vector<double> sent_, values_;
    bool ready_ = false;
};

/// The samples of a record that is due.
struct RecordSamples {
    std::int64_t log = 0;  ///< hash of their times and weights; 0: there are none
    bool wanted = false;   ///< a sample was wanted
    Status failure;        ///< reason why the samples cannot be used
};

class Samples {
public:
    Samples(const Variable& variable, Weights weights);

    StepWeights& weights() { return weights_; }
    const StepWeights& weights() const { return weights_; }
    /// Returns the bytes that are kept from step to step now.
    std::int64_t bytes() const;
    /// Begins a step. First completes the windows that ended before it.
    /// @param waits  not all of the elements will be written
    void begin_step(const Step& step, bool waits);
    bool wants() const { return step_.used; }
    /// Adds boxes of a sample.
    /// @param own_weight  weight sent by the model; null: derived from the step's length
    /// @param first, last  these are the first, or the last, boxes of the sample
    void take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
              bool last);
    /// Ends a step, and the inner windows that end with it.
    void end_step();

    /// @param before  the record's window ended before the step
    RecordSamples record(bool before) const {
        return before ? before_->samples : RecordSamples{state_.log, state_.wanted != 0, failure_};
    }
    /// Notes that the samples of this window cannot be used.
    void fail(Status why) {
        if (failure_.ok()) failure_ = std::move(why);
    }
    /// Ends an inner window that is not complete.
    void end_inner(Time begin, Time end);
    bool ever() const { return state_.ever != 0; }
    void set_ever() { state_.ever = 1; }
    /// Computes the values of the record, dense in the order of the chosen part.
    /// @param before  the record's window ended before the step
    /// @param values  receives the values, which stay until end_record()
    /// @return TW_OK, TW_ERANGE
    Status result(bool before, const void*& values);
    /// Drops the record of the window that ended before the step, if there is one.
    /// @param before  that is all; otherwise the next window begins
    void end_record(bool before);

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
    /// State of a record that is due at the end of the step, although its window ended before the
    /// step.
    struct Before {
        RecordSamples samples;
        Status status;
        std::vector<char> values;
    };
    /// Results of the open window, which has had its last sample.
    struct Results {
        Status status;
        const void* values = nullptr;
    };

    void finish();
    void reset();
    void add(const SentBox& box);

    const Variable& variable_;
    StepWeights weights_;
    /// For an instant, exists only between the sample and the end of the record.
    std::optional<Accumulator> sums_;
    VariableState state_;
    Step step_;
    bool waits_ = false;  ///< not all of the elements will be written
    Status failure_;
    std::optional<Before> before_;
    std::optional<Results> results_;
    /// Copy of a row whose stride in bytes is no multiple of the element size.
    std::vector<char> row_;
};

}  // namespace thalweg::history
