// The reduction or map of each sample of a field, whose values are the samples of another field.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "history/maps/mapping.hpp"
#include "history/reductions/reduction.hpp"
#include "history/selection/step_values.hpp"

namespace thalweg::history {

class StepReduction final : public SampleTaker {
public:
    /// @param source   field that is reduced or mapped @param taken  its elements
    /// @param mapping  null: the samples are reduced
    /// @param dims     dimensions of the results, in file order
    StepReduction(Field& source, const Taken& taken, std::shared_ptr<const Reduction> reduction,
                  std::shared_ptr<const Mapping> mapping, Weights given, Names dims);

    /// Returns the field of the results.
    Field& field() { return field_; }
    bool joins_ranks() const { return mapping_ != nullptr || reduction_->joins_ranks(); }
    /// Tests if it maps the samples of a field in this way.
    bool maps(const Field& source, const Mapping& mapping) const {
        return &source_ == &source && mapping_.get() == &mapping;
    }
    bool wants() const override;
    /// Takes boxes of a sample. Its last ones are reduced, and sent on unless other ranks hold
    /// elements of its groups.
    void take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
              bool last) override;
    void fail(Status why) override;

    /// Reduces a sample whose elements are missing, unless one was taken.
    void prepare();
    /// Appends words that the ranks combine by bitwise or. Then takes the combined ones.
    void give_words(std::vector<std::int64_t>& any) const;
    /// @return TW_OK, TW_EMISSING, TW_EMISMATCH: the samples of the ranks do not fit together
    Status take_words(std::span<const std::int64_t>& any);
    /// Appends the values that the ranks compute together, if there is a sample.
    void list(std::vector<Reduced*>& reduced, std::vector<Mapped*>& mapped) const;
    /// Sends the reduced or mapped sample, if there is one, to those that take it.
    void send(Time now);
    void end_step();

private:
    Status reduce();

    Field& source_;
    Field field_;
    const Chosen& chosen_;
    std::shared_ptr<const Reduction> reduction_;
    std::shared_ptr<const Mapping> mapping_;
    std::vector<double> sent_;  ///< elements of the sample
    std::unique_ptr<RecordValues> values_;
    std::optional<double> own_weight_;
    bool is_sent_ = false;
};

}  // namespace thalweg::history
