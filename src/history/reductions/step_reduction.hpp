// The reduction of each sample of a field, whose values are the samples of another field.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "history/reductions/reduction.hpp"
#include "history/selection/step_values.hpp"

namespace thalweg::history {

class StepReduction final : public SampleTaker {
public:
    /// @param source  field that is reduced @param taken  its elements
    /// @param dims    dimensions of the reduced field, in file order
    StepReduction(Field& source, const Taken& taken, std::shared_ptr<const Reduction> reduction,
                  Weights weights, std::vector<std::string> dims);
    StepReduction(const StepReduction&) = delete;
    StepReduction& operator=(const StepReduction&) = delete;

    /// Returns the field of the reduced samples.
    Field& field() { return field_; }
    bool joins_ranks() const { return reduction_->joins_ranks(); }
    bool wants() const override;
    /// Takes boxes of a sample. Its last ones are reduced, and sent on unless other ranks hold
    /// elements of its groups.
    void take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
              bool last) override;
    void fail(Status why) override;

    void prepare();
    /// Appends words that the ranks combine by bitwise or. Then takes the combined ones.
    void give_words(std::vector<std::int64_t>& any) const;
    /// @return TW_OK, TW_EMISSING, TW_EMISMATCH: the samples of the ranks do not fit together
    Status take_words(std::span<const std::int64_t>& any);
    Reduced& reduced() { return *reduced_; }
    /// Sends the reduced sample, if there is one, to those that take it.
    void send(Time now);
    void end_step();

private:
    Status reduce();

    Field& source_;
    Field field_;
    const Chosen& chosen_;
    std::shared_ptr<const Reduction> reduction_;
    std::vector<double> sent_;  ///< elements of the sample
    std::unique_ptr<Reduced> reduced_;
    std::optional<double> own_weight_;
    bool is_sent_ = false;
};

}  // namespace thalweg::history
