// SPDX-License-Identifier: Apache-2.0
#include "history/step_reduction.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "history/statistics/kernels.hpp"

namespace thalweg::history {

static constexpr std::int64_t has_sent = 1, has_not_sent = 2, has_weight = 4;

StepReduction::StepReduction(Field& source, const Taken& taken,
                             std::shared_ptr<const Reduction> reduction,
                             std::shared_ptr<const Mapping> mapping, Weights given, Names dims)
    : SampleTaker(std::move(given)),
      source_(source),
      chosen_(taken),
      reduction_(std::move(reduction)),
      mapping_(std::move(mapping)) {
    const Taken& results = mapping_ ? mapping_->results() : reduction_->results();
    const Part& part = results.part;
    field_.history = source.history;
    field_.attributes = source.attributes;
    field_.part = part;
    field_.serial = results.serial;
    field_.name = source.name;
    field_.type = TW_DOUBLE;
    field_.missing = Missing::varying;
    field_.missing_value = value_of(TW_DOUBLE, std::numeric_limits<double>::lowest());
    field_.dims = std::move(dims);
    field_.condition = source.condition;
    field_.shape = lengths_of(field_.dims, part.dims, part.shape);
}

bool StepReduction::wants() const {
    return std::ranges::any_of(field_.users, [](const auto* user) { return user->wants(); });
}

void StepReduction::fail(Status why) {
    for (SampleTaker* user : field_.users)
        if (user->wants()) user->fail(why);
}

void StepReduction::take(std::span<const SentBox> boxes, const double* own_weight, Time now,
                         bool /*first*/, bool last) {
    read_numbers(chosen_, boxes, source_, kernels::missing_mark, sent_);
    if (!last) return;
    own_weight_.reset();
    if (own_weight != nullptr) own_weight_ = *own_weight;
    if (Status status = reduce(); !status.ok()) fail(std::move(status));
    is_sent_ = true;  // not after an exception
    if (!joins_ranks()) send(now);
}

Status StepReduction::reduce() {
    Reducible from{sent_.data()};
    if (mapping_) {
        values_ = std::make_unique<Mapped>(*mapping_, from, Divisors::one);
        sent_ = std::vector<double>();
        return {};
    }
    std::vector<double> own = weights.values();
    bool negative = false;
    for (std::size_t i = 0; i < own.size(); ++i) {
        negative = negative || own[i] < 0;
        const bool missing = kernels::is_missing(sent_[i]) || !(own[i] > 0);
        own[i] = missing ? 0 : own[i];
        sent_[i] = missing ? 0 : sent_[i] * own[i];
    }
    if (!own.empty()) from.weights = own.data();
    values_ = std::make_unique<Reduced>(*reduction_, from);
    sent_ = std::vector<double>();
    if (!negative) return {};
    return failure(TW_EARG, "field '{}': the weight field has values below 0",
                   detail::OfVariable{source_.name});
}

void StepReduction::give_words(std::vector<std::int64_t>& any) const {
    // A step without a weight is not the same as one with the weight 0.
    const auto weight = std::bit_cast<std::int64_t>(own_weight_.value_or(-1));
    any.push_back((is_sent_               ? has_sent
                   : chosen_.elements > 0 ? has_not_sent
                                          : 0) |
                  (own_weight_ ? has_weight : 0));
    any.push_back(is_sent_ ? weight : 0);
    any.push_back(is_sent_ ? ~weight : 0);
    if (!mapping_) static_cast<const Reduced&>(*values_).give_bins(any);
}

Status StepReduction::take_words(std::span<const std::int64_t>& any) {
    const std::int64_t flags = any[0], weight = any[1], not_weight = any[2];
    any = any.subspan(3);
    if (!mapping_) static_cast<Reduced&>(*values_).take_bins(any);
    const std::string& name = source_.name;
    const bool partly = (flags & has_sent) != 0 && (flags & has_not_sent) != 0;
    is_sent_ = (flags & has_sent) != 0 && !partly;
    if (partly)
        return failure(TW_EMISSING, "field '{}' was sent by some ranks, but not by all",
                       detail::OfVariable{name});
    if ((weight & not_weight) != 0) {
        is_sent_ = false;
        return failure(TW_EMISMATCH, "field '{}': the ranks have sent it with different weights",
                       detail::OfVariable{name});
    }
    own_weight_.reset();
    if ((flags & has_weight) != 0) own_weight_ = std::bit_cast<double>(weight);
    return {};
}

void StepReduction::list(std::vector<Reduced*>& reduced, std::vector<Mapped*>& mapped) const {
    if (!is_sent_) return;
    if (mapping_)
        mapped.push_back(static_cast<Mapped*>(values_.get()));
    else
        reduced.push_back(static_cast<Reduced*>(values_.get()));
}

void StepReduction::send(Time now) {
    if (!is_sent_) return;
    (void)values_->convert(TW_DOUBLE, field_.missing_value);
    const auto boxes = dense_boxes(field_.part, values_->converted(), sizeof(double));
    for (SampleTaker* user : field_.users)
        if (user->wants())
            user->take(boxes, own_weight_ ? &*own_weight_ : nullptr, now, true, true);
}

void StepReduction::prepare() {
    if (values_) return;
    sent_.assign(chosen_.elements, kernels::missing_mark);
    (void)reduce();
}

void StepReduction::end_step() {
    weights.end_step();
    values_.reset();
    is_sent_ = false;
    own_weight_.reset();
}

}  // namespace thalweg::history
