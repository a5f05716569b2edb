// The values of a field that weighs another, in the present step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/calendar/calendar.hpp"
#include "history/selection/field.hpp"

namespace thalweg::history {

/// A weight field's values of a step, for the elements of a variable.
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
    /// Sets the weights of a sample to 1 for elements with a local time after the previous sample,
    /// otherwise to 0. Does nothing without local times.
    void find_local(Time previous, Time now);
    bool has_local_times() const { return !weights_.local_times.empty(); }
    /// Returns the weight of each of the variable's elements; empty if there is no weight field.
    const std::vector<double>& values() const { return values_; }

private:
    Weights weights_;
    std::vector<double> sent_, values_;
    bool ready_ = false;
};

/// Finds for each of the variable's elements the element of the weight field.
/// @return TW_OK, TW_ESETTING: this rank does not hold the same elements of both
Status match_weights(const Chosen& chosen, Weights& weights);

}  // namespace thalweg::history
