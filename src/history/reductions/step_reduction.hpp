// The reduction of each sample of a field, whose values are the samples of another field.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "history/reductions/reduction.hpp"
#include "history/selection/step_weights.hpp"

namespace thalweg::history {

class StepReduction {
public:
    /// @param source  field that is reduced @param taken  its elements
    /// @param dims    dimensions of the reduced field, in file order
    StepReduction(Field& source, const Taken& taken, std::shared_ptr<const Reduction> reduction,
                  Weights weights, std::vector<std::string> dims);
    StepReduction(const StepReduction&) = delete;
    StepReduction& operator=(const StepReduction&) = delete;

    /// Returns the field of the reduced samples. It is wanted if a variable takes its samples.
    Field& field() { return field_; }
    bool joins_ranks() const { return reduction_->joins_ranks(); }
    StepWeights& weights() { return weights_; }
    /// Takes boxes of a sample.
    /// @param own_weight  weight sent by the model; may be null
    /// @param last        these are the last boxes of the sample, which is then reduced
    /// @return TW_OK, TW_EARG: a weight is negative
    Status take(std::span<const SentBox> boxes, const double* own_weight, bool last);

    /// Reduces a sample without elements, unless one was taken.
    void prepare();
    /// Appends words that the ranks combine by bitwise or. Then takes the combined ones.
    void give_words(std::vector<std::int64_t>& any) const;
    /// @return TW_OK, TW_EMISSING, TW_EMISMATCH: the samples of the ranks do not fit together
    Status take_words(std::span<const std::int64_t>& any);
    Reduced& reduced() { return *reduced_; }
    /// Returns the reduced sample, and its weight; null if there is none.
    const char* sample();
    const double* own_weight() const { return own_weight_ ? &*own_weight_ : nullptr; }
    void end_step();

private:
    Status reduce();

    Field& source_;
    Field field_;
    const Chosen& chosen_;
    std::shared_ptr<const Reduction> reduction_;
    StepWeights weights_;
    std::vector<double> sent_;  ///< elements of the sample
    std::unique_ptr<Reduced> reduced_;
    std::optional<double> own_weight_;
    bool is_sent_ = false;
};

}  // namespace thalweg::history
