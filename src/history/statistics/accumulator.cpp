// SPDX-License-Identifier: Apache-2.0
#include "history/statistics/accumulator.hpp"

#include <algorithm>
#include <array>

#include "history/statistics/kernels.hpp"

namespace thalweg::history {

/// Returns the inner operation as a statistic of its own.
static Statistic inner_of(const Statistic& statistic) {
    Statistic inner = statistic;
    inner.op = *statistic.inner;
    inner.results = inner.type;
    inner.min_valid = 0;
    inner.ddof = 0;
    return inner;
}

/// Returns the outer operation, whose samples are the results of the inner one, in double.
static Statistic outer_of(const Statistic& statistic) {
    Statistic outer = statistic;
    if (!statistic.inner) return outer;
    outer.type = TW_DOUBLE;
    if (statistic.weight_field) outer.missing = Missing::varying;
    outer.weight_field = false;
    outer.missing_value = value_of(TW_DOUBLE, kernels::missing_mark);
    return outer;
}

Accumulator::Accumulator(const Statistic& statistic, std::int64_t elements)
    : outer_(outer_of(statistic), elements, statistic.inner.has_value()) {
    if (statistic.inner) inner_.emplace(inner_of(statistic), elements);
}

std::int64_t Accumulator::bytes(const Statistic& statistic, std::int64_t elements) {
    const Statistic outer = outer_of(statistic);
    std::int64_t each = SumArrays(outer).bytes();
    if (statistic.inner) each += SumArrays(inner_of(statistic)).bytes();
    return each * elements;
}

Status Accumulator::end_inner(double weight) {
    if (!inner_ || inner_->samples == 0) return {};
    std::array<double, converted_together> results;
    const Value missing = value_of(TW_DOUBLE, kernels::missing_mark);
    Status status;
    outer_.begin_sample(weight);
    for (std::int64_t i = 0; i < inner_->elements(); i += converted_together) {
        const std::int64_t count = std::min(converted_together, inner_->elements() - i);
        Status own = inner_->result(i, count, TW_DOUBLE, missing, results.data());
        if (!own.ok()) status = std::move(own);
        outer_.add({i, count, results.data(), 1, nullptr});
    }
    Status own = outer_.end_sample();
    inner_->reset();
    return own.ok() ? status : own;
}

void Accumulator::reset() {
    outer_.reset();
    if (inner_) inner_->reset();
}

std::vector<StateArray> Accumulator::arrays() {
    std::vector<StateArray> found;
    outer_.list_arrays("", found);
    if (inner_) inner_->list_arrays("inner_", found);
    return found;
}

StateNumbers Accumulator::numbers() const {
    return {outer_.weight, inner_ ? inner_->weight : 0, outer_.samples,
            inner_ ? inner_->samples : 0,
            (outer_.weighs() ? 1 : 0) | (inner_ && inner_->weighs() ? 2 : 0)};
}

void Accumulator::weigh(std::int64_t bits) {
    if ((bits & 1) != 0) outer_.weigh();
    if ((bits & 2) != 0 && inner_) inner_->weigh();
}

void Accumulator::set_numbers(const StateNumbers& numbers) {
    weigh(numbers.weighs);
    outer_.weight = numbers.weight;
    outer_.samples = numbers.samples;
    if (!inner_) return;
    inner_->weight = numbers.inner_weight;
    inner_->samples = numbers.inner_samples;
}

}  // namespace thalweg::history
