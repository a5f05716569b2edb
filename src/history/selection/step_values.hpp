// The values of fields in the present step: weights of other fields, and those from which fields
// are computed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/levels/interpolate.hpp"
#include "history/selection/field.hpp"

namespace thalweg::history {

/// The elements of a field in the present step, without halos and holes.
class StepValues {
public:
    explicit StepValues(const Part& part) : all_(choose(part, {})) {}
    /// Takes boxes.
    /// @param whole  these are all boxes, used only in this call: a dense array is not copied
    void take(std::span<const SentBox> boxes, std::int64_t size, bool whole);
    /// Drops what was taken.
    void clear() { data_ = nullptr; }
    /// Returns the values; null if none were taken.
    const char* data() const { return data_; }
    const Part& part() const { return all_.part; }
    std::int64_t elements() const { return all_.elements; }
    std::int64_t bytes() const { return std::ssize(copy_); }

private:
    Chosen all_;
    const char* data_ = nullptr;
    std::vector<char> copy_;
};

/// A weight field, and its elements that belong to those of a variable.
struct Weights {
    Field* field = nullptr;          ///< field of the weights; null: there is none
    const Chosen* chosen = nullptr;  ///< elements of the weight field
    /// Position in the weight field of each of the variable's elements; empty: the same position.
    std::vector<std::int64_t> places;
    /// Times of the day at or after which the first sample of each element counts, in a list for
    /// each local time; empty: all samples count.
    std::vector<Time> local_times;
    std::size_t local_count = 1;  ///< number of these lists
};

/// The values of a weight field in the present step.
class StepWeights : public Weights {
public:
    explicit StepWeights(Weights weights) : Weights(std::move(weights)) {}
    /// Checks that the weights have been sent in this step, if there is a field of them.
    /// @param weighted  name of the field that they weigh
    /// @return TW_OK, TW_ESTATE
    Status check(const std::string& weighted) const;
    /// Keeps boxes until the step ends. @param last  these are the last boxes
    void take(std::span<const SentBox> boxes, bool last);
    void end_step();
    /// Sets weights to 1 for elements with a local time after the previous sample, otherwise to 0.
    void find_local(Time previous, Time now);
    bool has_local_times() const { return !local_times.empty(); }
    /// Returns the weight of each of the variable's elements; empty if there is no weight field.
    const std::vector<double>& values() const { return values_; }
    /// Returns the weights from an element on; null if there is no weight field.
    const double* from(std::int64_t element) const {
        return values_.empty() ? nullptr : values_.data() + element;
    }

private:
    std::vector<double> sent_, values_;
    bool ready_ = false;
};

/// A statistic or reduction that takes the samples of a field.
class SampleTaker {
public:
    explicit SampleTaker(Weights given) : weights(std::move(given)) {}
    SampleTaker(const SampleTaker&) = delete;
    SampleTaker& operator=(const SampleTaker&) = delete;
    virtual ~SampleTaker() = default;
    /// Tests if it needs the sample of this step.
    virtual bool wants() const = 0;
    /// Takes boxes of a sample.
    /// @param own_weight  weight sent by the model; null: derived from the step's length
    /// @param first, last  these are the first, or the last, boxes of the sample
    virtual void take(std::span<const SentBox> boxes, const double* own_weight, Time now,
                      bool first, bool last) = 0;
    /// Notes that the step's sample cannot be used.
    virtual void fail(Status why) = 0;

    StepWeights weights;
};

class Computed {
public:
    /// @param inputs  fields from which it is computed, as in Computation::inputs
    Computed(const Computation& how, std::vector<Field*> inputs, const Field& result)
        : how_(how), inputs_(std::move(inputs)), result_(result) {}

    /// Finds the elements of the inputs that belong to each element of the result.
    /// @return TW_OK, TW_ESETTING: this rank does not hold them
    Status match();
    /// Begins a step that needs the field, and marks its inputs as wanted.
    void begin_step();
    /// Notes that an input has been sent. @param weight  weight that the model has sent, or null
    /// @return true if it was the last one
    bool note(const double* weight);
    std::int64_t waiting() const { return waiting_; }
    bool differs() const { return differs_; }
    /// Computes the values. @param boxes  receives the boxes of the result
    /// @return TW_OK, TW_ERANGE: an integer has more digits than a double
    Status compute(std::vector<SentBox>& boxes);
    std::int64_t bytes() const { return std::ssize(values_) * 8; }

private:
    void load(int input, std::int64_t first, std::int64_t count, double* values, std::int64_t step);
    MissingMark missing_of(int input) const;
    void interpolate_box(int box, std::int64_t& columns, std::int64_t& result);
    double mark() const;  ///< Returns the value of missing results.

    const Computation& how_;
    std::vector<Field*> inputs_;
    const Field& result_;
    /// Position in each input of each element of the one that the result is like; empty: the same.
    std::vector<Integers> places_;
    Integers levels_;  ///< number of levels in a column of each input
    std::vector<double> values_;
    std::int64_t waiting_ = 0;
    std::optional<double> weight_;  ///< weight that the model has sent with the first input
    bool differs_ = false;          ///< another input came with another weight
    Status inexact_;                ///< an input has an integer that no double represents
};

}  // namespace thalweg::history
