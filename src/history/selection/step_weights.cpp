// SPDX-License-Identifier: Apache-2.0
#include "history/selection/step_weights.hpp"

namespace thalweg::history {

using detail::OfVariable;

void StepWeights::take(std::span<const SentBox> boxes, bool last) {
    read_numbers(*weights_.chosen, boxes, weights_.field->declared, 0, sent_);
    if (!last) return;
    ready_ = true;
    if (weights_.places.empty()) {
        values_.swap(sent_);
        return;
    }
    values_.resize(weights_.places.size());
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = sent_[weights_.places[i]];
}

void StepWeights::end_step() {
    ready_ = false;
    values_.clear();
}

void StepWeights::find_local(Time previous, Time now) {
    if (!has_local_times()) return;
    const Time from = previous - floor_div(previous, one_day) * one_day, length = now - previous;
    const std::vector<Time>& times = weights_.local_times;
    values_.assign(times.size() / weights_.local_count, 0);
    for (std::size_t first = 0; first < times.size(); first += values_.size())
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const Time after = times[first + i] - from;
            const Time ahead = after > 0 ? after : after + one_day;
            if (ahead > 0 && ahead <= length) values_[i] = 1;
        }
}

Status StepWeights::check(const std::string& weighted) const {
    if (weights_.field == nullptr || ready_) return {};
    return detail::failure(
        TW_ESTATE,
        "field '{}' was sent before its weight '{}': in each step, send the weight first",
        OfVariable{weighted}, weights_.field->declared.name);
}

Status match_weights(const Chosen& chosen, Weights& weights) {
    if (same_part(chosen.part, weights.chosen->part) ||
        find_places(chosen.part, weights.chosen->part, weights.places))
        return {};
    return detail::failure(TW_ESETTING, "a rank does not hold the same elements of the weight '{}'",
                           weights.field->declared.name);
}

}  // namespace thalweg::history
