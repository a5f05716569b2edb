// A statistic of a field in a stream: takes samples, and gives a record for each window.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/accumulator.hpp"
#include "history/field.hpp"
#include "history/pick.hpp"
#include "history/resolve.hpp"
#include "history/window.hpp"

namespace thalweg::history {

/// The numbers of a variable that a restart keeps. The numbers about samples are the same on all
/// ranks that hold elements.
struct VariableState {
    std::int64_t log = 0;     ///< hash of the times and weights of the window's samples
    std::int64_t ever = 0;    ///< 1: the variable was sent since the history's start
    std::int64_t failed = 0;  ///< failures of the window's samples, one bit for each code
    std::int64_t wanted = 0;  ///< 1: the window has had a step whose sample is used
    DurationWeight weight, inner_weight;
    StateNumbers numbers;

    using Words = std::array<std::int64_t, 13>;
    Words to_words() const;
    static VariableState from_words(const Words& words);
};

/// The values of a weight field in a step, for the elements of a variable.
struct Weights {
    Field* field = nullptr;                ///< null: there is no weight field
    std::shared_ptr<const Chosen> chosen;  ///< elements of the weight field
    /// Position in the weight field of each of the variable's elements; empty: the same position.
    std::vector<std::int64_t> places;
};

class Variable {
public:
    /// @param rules  rules of the variable's windows: those of the stream, or with its own inner
    /// operation
    Variable(const StreamField& about, Field& field, Weights weights, const WindowRules& rules,
             std::shared_ptr<const Chosen> chosen);
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

    const StreamField& about() const { return about_; }
    const std::string& name() const { return about_.name; }
    Field& field() const { return field_; }
    const Field* weight_field() const { return weights_.field; }
    const Chosen& chosen() const { return *chosen_; }
    tw_decomposition target() const { return target_; }
    void set_target(tw_decomposition target) { target_ = target; }
    /// Keeps the pick from which the elements come.
    /// @param names  coordinates whose dimensions the pick replaces
    void set_pick(const Pick& pick, std::vector<std::string> names);
    const Pick& pick() const { return pick_; }
    /// Returns the attributes of the field that apply to the elements.
    const std::vector<Attribute>& attributes() const { return attributes_; }
    /// Returns the names of the dimensions in the file, without time.
    std::vector<std::string> dims() const { return picked_dims(field_.declared.dims, pick_); }
    const WindowRules& rules() const { return rules_; }
    bool once() const { return about_.statistic.op == Op::once; }
    bool instant() const { return about_.statistic.op == Op::instant || once(); }
    /// Tests if this rank holds elements of the variable, which it must send.
    bool held() const { return chosen_->elements > 0; }
    /// Returns the bytes that are kept between steps at present.
    std::int64_t bytes() const;

    /// Begins a step: ends the windows that ended before it.
    void begin_step(const Step& step);
    bool wants() const { return step_.used; }
    /// @return TW_OK, TW_ESTATE: the weight field has not been sent in this step
    Status check_weight() const;
    /// Adds boxes of a sample.
    /// @param own_weight  weight sent by the model; null: derived from the step's length
    /// @param first, last  these are the first, or the last, boxes of the sample
    void take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
              bool last);
    /// Keeps boxes of the weight field until the step ends.
    /// @param last  these are the last boxes
    void take_weights(std::span<const SentBox> boxes, bool last);
    /// Ends a step, and the inner windows that end with it.
    void end_step();

    /// Returns a hash of the times and weights of a due record's samples; 0 if it has none.
    /// @param before  the record's window ended before the step
    std::int64_t record_log(bool before) const { return before ? before_->log : state_.log; }
    /// Tests if some sample was wanted for the record.
    bool record_wanted(bool before) const { return before ? before_->wanted : state_.wanted != 0; }
    /// Notes that the samples of this window cannot be used.
    void fail(Status why) {
        if (failure_.ok()) failure_ = std::move(why);
    }
    /// Ends an inner window that is not complete.
    void end_inner(Time begin, Time end);
    /// Returns the failure of these samples.
    Status record_failure(bool before) const { return before ? before_->failure : failure_; }
    bool ever() const { return state_.ever != 0; }
    void set_ever() { state_.ever = 1; }
    /// Computes the values of the record, dense in the order of the chosen part.
    /// @return TW_OK, TW_ERANGE
    Status result(std::vector<char>& values);
    /// Begins the next window.
    void end_record();

    /// Sets the value of elements without a result.
    void set_fill(const Value& fill) { fill_ = fill; }
    const Value& fill() const { return fill_; }

    VariableState state() const;
    void set_state(const VariableState& state);
    /// Ignores the time before `time`, when the stream did not exist.
    void begin_at(Time time);
    std::vector<StateArray> arrays();
    /// Keeps the state in the form that it has on ranks that hold elements.
    void weigh(std::int64_t bits) {
        if (sums_) sums_->weigh(bits);
    }

private:
    /// State of a record that is due at the end of the step, although its window ended before the
    /// step.
    struct Before {
        std::int64_t log = 0;
        bool wanted = false;
        Status failure, status;
        std::vector<char> values;
    };

    Status compute(std::vector<char>& values) const;
    void reset();
    void add(const SentBox& box);

    StreamField about_;
    Field& field_;
    Weights weights_;
    WindowRules rules_;
    std::shared_ptr<const Chosen> chosen_;
    tw_decomposition target_ = nullptr;  ///< decomposition of the chosen part
    Pick pick_;
    std::vector<Attribute> attributes_;
    /// For an instant, exists only between the sample and the end of the record.
    std::optional<Accumulator> sums_;
    VariableState state_;
    Step step_;
    Status failure_;
    Value fill_{};
    std::optional<Before> before_;
    /// Weights of this step: as sent, and for each element of the variable.
    std::vector<double> weight_sent_, weight_;
    bool weights_ready_ = false;
    /// Copy of a row whose stride in bytes is no multiple of the element size.
    std::vector<char> row_;
};

/// Finds for each of the variable's elements the element of the weight field.
/// @return TW_OK, TW_ESETTING: this rank does not hold the same elements of both
Status match_weights(const Chosen& chosen, Weights& weights);

/// Returns a value of a type as a number.
double number_of(tw_type type, const char* data);
/// Returns a number as a value of a type.
Value value_of(tw_type type, double number);
/// Returns the fill value of a type: 1e20 for float and double, otherwise netCDF's default.
Value fill_of(tw_type type);

}  // namespace thalweg::history
