// SPDX-License-Identifier: Apache-2.0
#include "history/samples.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "history/variable.hpp"
#include "index/types.hpp"

namespace thalweg::history {

using detail::failure;
using detail::OfVariable;

namespace {

std::int64_t add_to_log(std::int64_t log, Time now, double weight) {
    const std::int64_t words[] = {log, now, std::bit_cast<std::int64_t>(weight)};
    const std::string_view bytes(reinterpret_cast<const char*>(words), sizeof words);
    return static_cast<std::int64_t>(detail::hash_of(bytes) | 1);  // not 0
}

}  // namespace

VariableState::Words VariableState::to_words() const {
    return {log,
            ever,
            weight.previous,
            weight.unit,
            inner_weight.previous,
            inner_weight.unit,
            std::bit_cast<std::int64_t>(numbers.weight),
            std::bit_cast<std::int64_t>(numbers.inner_weight),
            numbers.samples,
            numbers.inner_samples,
            numbers.weighs,
            wanted,
            failed};
}

VariableState VariableState::from_words(const Words& words) {
    VariableState state;
    state.log = words[0];
    state.ever = words[1];
    state.weight = {words[2], words[3]};
    state.inner_weight = {words[4], words[5]};
    state.numbers = {std::bit_cast<double>(words[6]), std::bit_cast<double>(words[7]), words[8],
                     words[9], words[10]};
    state.wanted = words[11];
    state.failed = words[12];
    return state;
}

Samples::Samples(const Variable& variable, Weights weights)
    : variable_(variable), weights_(std::move(weights)) {
    if (!variable.instant()) sums_.emplace(variable.about().statistic, variable.chosen().elements);
    begin_at(variable.rules().begin());
}

std::int64_t Samples::bytes() const { return variable_.instant() ? 0 : sums_->bytes(); }

void Samples::begin_step(const Step& step, bool waits) {
    step_ = step;
    waits_ = waits;
    if (step.inner_before)
        end_inner(step.before ? step.before->begin : step.window.begin, step.inner_before->end);
    if (step.before && !before_) {  // else an earlier attempt lacked memory for other variables
        Before before{record(false), {}, {}};
        if (state_.log != 0) {
            before.values.resize(variable_.chosen().elements *
                                 detail::size_of(variable_.about().type));
            finish();
            before.status = std::move(results_->status);
            if (!before.values.empty())
                std::memcpy(before.values.data(), results_->values, before.values.size());
        }
        before_ = std::move(before);
        reset();
    }
    if (step.used) state_.wanted = 1;
}

void StepWeights::take(std::span<const SentBox> boxes, bool last) {
    const DeclaredField& weight = weights_.field->declared;
    const double missing =
        number_of(weight.type, reinterpret_cast<const char*>(weight.missing_value.data()));
    const bool misses = weight.missing != Missing::none;
    sent_.resize(weights_.chosen->elements);
    const auto keep = [&](std::int64_t first, std::int64_t count, const char* data,
                          std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
            const double value = number_of(weight.type, data + i * stride);
            sent_[first + i] = misses && value == missing ? 0 : value;
        }
    };
    for (const SentBox& box : boxes) for_rows(*weights_.chosen, box, keep);
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

Status StepWeights::check(const std::string& weighted) const {
    if (weights_.field == nullptr || ready_) return {};
    return detail::failure(TW_ESTATE,
                           "field '{}' was sent before its weight '{}': in each step, send the "
                           "weight first",
                           OfVariable{weighted}, weights_.field->declared.name);
}

void Samples::take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
                   bool last) {
    if (first) {
        if (variable_.instant())
            sums_.emplace(variable_.about().statistic, variable_.chosen().elements);
        double weight = 1;
        if (!variable_.instant() && !variable_.about().statistic.counts)
            weight = state_.weight.next(
                variable_.about().inner ? step_.inner.begin : step_.window.begin, now);
        if (own_weight != nullptr) weight = *own_weight;
        sums_->begin_sample(weight);
        state_.log = add_to_log(state_.log, now, weight);
    }
    for (const SentBox& box : boxes) add(box);
    if (!last) return;
    Status ended = sums_->end_sample();
    if (!ended.ok())
        fail(failure(ended.code, "field '{}': {}", OfVariable{variable_.field().declared.name},
                     ended.text));
    // The sums are still in the caches.
    else if (step_.ends && !variable_.about().inner && !waits_)
        finish();
}

void Samples::add(const SentBox& box) {
    const std::int64_t size = detail::size_of(variable_.about().statistic.type);
    for_rows(variable_.chosen(), box,
             [&](std::int64_t first, std::int64_t count, const char* data, std::int64_t stride) {
                 Run run;
                 run.first = first;
                 run.count = count;
                 run.data = data;
                 run.stride = stride / size;
                 if (!weights_.values().empty()) run.weights = weights_.values().data() + first;
                 if (stride % size != 0) {
                     row_.resize(count * size);
                     for (std::int64_t i = 0; i < count; ++i)
                         std::memcpy(row_.data() + i * size, data + i * stride, size);
                     run.data = row_.data();
                     run.stride = 1;
                 }
                 sums_->add(run);
             });
}

void Samples::end_inner(Time begin, Time end) {
    state_.weight.end_window();
    if (!sums_ || sums_->numbers().inner_samples == 0) return;
    const double weight =
        variable_.about().statistic.counts ? 1 : state_.inner_weight.next(begin, end);
    fail(sums_->end_inner(weight));
}

void Samples::end_step() {
    if (step_.inner_ends) end_inner(step_.window.begin, step_.inner.end);
    weights_.end_step();
}

/// Computes the results of the open window.
void Samples::finish() {
    if (results_) return;
    Results found;
    // A rank that holds no elements need not send the field.
    if (sums_) found.status = sums_->finish(variable_.about().type, variable_.fill(), found.values);
    results_ = std::move(found);
}

Status Samples::result(bool before, const void*& values) {
    if (!before) finish();
    values = before ? before_->values.data() : results_->values;
    return before ? before_->status : results_->status;
}

void Samples::end_record(bool before) {
    before_.reset();
    if (!before) reset();
}

void Samples::reset() {
    if (variable_.instant())
        sums_.reset();
    else
        sums_->reset();
    results_.reset();
    state_.log = state_.wanted = 0;
    state_.weight.end_window();
    state_.inner_weight.end_window();
    failure_ = {};
}

VariableState Samples::state() const {
    VariableState state = state_;
    if (sums_) state.numbers = sums_->numbers();
    if (!failure_.ok()) state.failed = std::int64_t{1} << -failure_.code;
    return state;
}

void Samples::set_state(const VariableState& state) {
    state_ = state;
    if (sums_) sums_->set_numbers(state.numbers);
    if (state.failed != 0)
        failure_ = detail::failure(
            static_cast<tw_status>(-std::countr_zero(static_cast<std::uint64_t>(state.failed))),
            "field '{}': samples before the restart cannot be used",
            OfVariable{variable_.field().declared.name});
}

void Samples::take_over(Samples& other, const std::vector<std::int64_t>& places) {
    const auto gather = [&](const void* from, std::int64_t size, void* to) {
        for (std::size_t i = 0; i < places.size(); ++i)
            std::memcpy(static_cast<char*>(to) + i * size,
                        static_cast<const char*>(from) + places[i] * size, size);
    };
    state_ = other.state_;
    step_ = other.step_;
    failure_ = other.failure_;
    before_ = other.before_;
    const std::int64_t size = detail::size_of(variable_.about().type);
    if (before_ && !before_->values.empty()) {
        before_->values.resize(places.size() * size);
        gather(other.before_->values.data(), size, before_->values.data());
    }
    sums_.reset();
    if (!other.sums_) return;
    sums_.emplace(variable_.about().statistic, std::ssize(places));
    sums_->set_numbers(other.sums_->numbers());
    const std::vector<StateArray> from = other.sums_->arrays(), to = sums_->arrays();
    for (std::size_t a = 0; a < to.size(); ++a)
        gather(from[a].data, detail::size_of(to[a].type), to[a].data);
}

std::vector<StateArray> Samples::arrays() {
    return sums_ && !variable_.instant() ? sums_->arrays() : std::vector<StateArray>{};
}

}  // namespace thalweg::history
