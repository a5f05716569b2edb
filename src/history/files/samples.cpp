// SPDX-License-Identifier: Apache-2.0
#include "history/files/samples.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/hash.hpp"
#include "history/statistics/kernels.hpp"
#include "index/types.hpp"

namespace thalweg::history {

Samples::Samples(const SampledField& variable, Weights given)
    : SampleTaker(std::move(given)), variable_(variable) {
    if (!variable.instant()) sums_.emplace(variable.statistic, variable.taken.elements);
    begin_at(variable.rules.begin());
}

void Samples::begin_step(const Step& step, bool waits) {
    step_ = step;
    waits_ = waits;
    divided_ = splits() && step.used() && !step.before.empty();
    if (divided_) sample_.resize(variable_.taken.elements * detail::size_of(variable_.field.type));
    for (const StepPart& part : step.before) {
        // An earlier attempt may have lacked memory for other variables.
        if (!part.ends || before_.contains(part.window.number)) continue;
        Before ended;
        if (!variable_.joins() && (divided_ || state_.log != 0))
            ended.copy.resize(variable_.taken.elements * detail::size_of(variable_.type));
        before_.emplace(part.window.number, std::move(ended));
    }
    if (divided_) return;
    for (const StepPart& part : step.before) end_part(part);
    if (step.takes) state_.wanted = 1;
}

void Samples::end_part(const StepPart& part) {
    if (part.inner_ends) end_inner(part.window.begin, part.inner.end);
    if (!part.ends) return;
    Before& ended = before_.at(part.window.number);
    if (ended.ended) return;
    ended.samples = record({});
    // Reductions and maps need all ranks, also those that hold no elements.
    if (state_.log != 0 || variable_.joins()) {
        static_cast<Results&>(ended) = results({});
        if (!ended.copy.empty()) std::memcpy(ended.copy.data(), ended.values, ended.copy.size());
    }
    ended.ended = true;
    reset();
}

/// Adds the sample to each window with the part of the step there; ends all but the last.
/// @param sent  false: there is no sample
void Samples::take_parts(bool sent) {
    const auto take = [&](const StepPart& part, Time end) {
        if (!part.takes) return;
        state_.wanted = 1;
        if (sent) {
            begin_sample(part, end);
            sums_->add({0, variable_.taken.elements, sample_.data(), 1, weights.from(0)});
            end_sample();
        }
        keep_first(failure_, sample_failure_);
    };
    for (const StepPart& part : step_.before) {
        take(part, part.inner_ends ? part.inner.end : part.window.end);
        end_part(part);
    }
    take(step_, sample_time_);
    divided_ = false;
    sample_ = std::vector<char>();
    sample_failure_ = {};
}

Time Samples::begin_of(const StepPart& part) const {
    return variable_.inner || variable_.bin >= 0 ? part.inner.begin : part.window.begin;
}

double Samples::weight_of(const StepPart& part, Time end) {
    if (is_difference(variable_.statistic.op))
        return static_cast<double>(end - std::exchange(state_.weight.previous, end)) / one_second;
    if (variable_.instant() || variable_.statistic.counts) return own_weight_.value_or(1);
    // Samples of other bins lie between the samples of a bin.
    const Time duration = variable_.bin >= 0 ? end - std::max(step_.from, begin_of(part))
                                             : state_.weight.since(begin_of(part), end);
    const double weight = state_.weight.next(begin_of(part), end);
    if (!own_weight_) return weight;
    if (!splits() || duration == whole_) return *own_weight_;
    return *own_weight_ * (static_cast<double>(duration) / static_cast<double>(whole_));
}

void Samples::begin_sample(const StepPart& part, Time end) {
    const double weight = weight_of(part, end);
    sums_->begin_sample(weight);
    const std::array words{state_.log, end, std::bit_cast<std::int64_t>(weight)};
    state_.log = static_cast<std::int64_t>(detail::hash_of_words(words, 0) | 1);  // not 0
}

void Samples::end_sample() {
    Status ended = sums_->end_sample();
    if (!ended.ok())
        keep_first(failure_, failure(ended.code, "field '{}': {}", OfVariable{variable_.field.name},
                                     ended.text));
}

void Samples::take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
                   bool last) {
    if (first) {
        if (variable_.instant()) sums_.emplace(variable_.statistic, variable_.taken.elements);
        weights.find_local(state_.weight.previous, now);
        if (weights.has_local_times()) state_.weight.previous = now;
        own_weight_.reset();
        if (own_weight != nullptr) own_weight_ = *own_weight;
        sample_time_ = now;
        const StepPart& earliest = step_.before.empty() ? step_ : step_.before.front();
        whole_ = now - step_.from;
        if (variable_.bin < 0)
            whole_ = std::max(whole_, state_.weight.since(begin_of(earliest), now));
        if (!divided_) begin_sample(step_, now);
    }
    if (divided_) {
        const std::int64_t size = detail::size_of(variable_.statistic.type);
        for (const SentBox& box : boxes) copy_elements(variable_.taken, box, size, sample_.data());
        if (last) take_parts(true);
    } else {
        for (const SentBox& box : boxes) add(box);
        if (last) end_sample();
    }
    // The sums are still in the caches.
    if (last && step_.ends && failure_.ok() && !variable_.inner && !waits_) finish();
}

void Samples::add(const SentBox& box) {
    const std::int64_t size = detail::size_of(variable_.statistic.type);
    for_rows(variable_.taken, box,
             [&](std::int64_t first, std::int64_t count, const char* data, std::int64_t stride) {
                 Run run{first, count, data, stride / size, weights.from(first)};
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
    if (!variable_.inner) return;
    state_.weight.end_window();
    if (!sums_ || sums_->numbers().inner_samples == 0) return;
    const double weight = variable_.statistic.counts ? 1 : state_.inner_weight.next(begin, end);
    fail(sums_->end_inner(weight));
}

void Samples::end_step() {
    if (divided_) take_parts(false);
    if (step_.inner_ends) end_inner(step_.window.begin, step_.inner.end);
    weights.end_step();
}

void Samples::finish() {
    if (results_) return;
    Results found;
    // A rank that holds no elements need not send the field.
    if (variable_.joins())
        found.joined = join(found.status);
    else if (sums_)
        found.status = sums_->finish(variable_.type, variable_.fill, found.values);
    results_ = std::move(found);
}

/// Reduces or maps the results of the open window. Where elements have had other numbers of samples
/// or weights, their sums and weights are reduced or mapped.
std::shared_ptr<RecordValues> Samples::join(Status& status) {
    const Statistic& statistic = variable_.statistic;
    const std::int64_t n = variable_.taken.elements;
    Reducible from;
    std::vector<double> counts;
    const bool weighs = statistic.op == Op::mean &&
                        (statistic.weight_field || statistic.missing == Missing::varying);
    if (weighs && sums_) {
        const StateNumbers numbers = sums_->numbers();
        from.divisor = numbers.weight;
        // Without a sample that counts, the arrays are those of an earlier window.
        from.least = numbers.samples > 0 ? statistic.min_valid * numbers.weight
                                         : std::numeric_limits<double>::infinity();
        for (const StateArray& array : sums_->arrays()) {
            if (array.name == "sum") from.values = static_cast<const double*>(array.data);
            if (array.name != "weight") continue;
            if (array.type == TW_INT) {
                const auto* const whole = static_cast<const std::int32_t*>(array.data);
                counts.assign(whole, whole + n);
            }
            from.weights =
                array.type == TW_INT ? counts.data() : static_cast<const double*>(array.data);
        }
    } else if (sums_) {
        const void* values = nullptr;
        const Value missing = value_of(TW_DOUBLE, kernels::missing_mark);
        status = sums_->finish(TW_DOUBLE, missing, values);
        from.values = static_cast<const double*>(values);
    }
    if (variable_.reduction) return std::make_shared<Reduced>(*variable_.reduction, from);
    // The share of the links' weights that lead from valid samples.
    const bool share = statistic.op == Op::fraction;
    for (std::int64_t i = 0; i < n && share && sums_; ++i)
        counts.push_back(kernels::is_missing(from.values[i]) ? 0 : 1);
    if (share) from.weights = counts.data();
    const bool field = share || (weighs && statistic.weight_field && !statistic.inner);
    const Divisors divisors = field ? Divisors::field : weighs ? Divisors::samples : Divisors::one;
    return std::make_shared<Mapped>(*variable_.mapping, from, divisors);
}

RecordSamples Samples::record(Number number) const {
    if (!number) return {state_.log, state_.wanted != 0, failure_};
    const auto found = before_.find(*number);
    return found != before_.end() ? found->second.samples : RecordSamples{};
}

Samples::Results& Samples::results(Number number) {
    if (number) return before_.at(*number);
    finish();
    return *results_;
}

Status Samples::result(Number number, const void*& values) {
    const Results& found = results(number);
    Status status = found.status;
    values = number ? before_.at(*number).copy.data() : found.values;
    if (!found.joined) return status;
    keep_first(status, found.joined->convert(variable_.type, variable_.fill));
    values = found.joined->converted();
    return status;
}

void Samples::end_record(Number number) {
    if (number) {
        before_.erase(*number);
        return;
    }
    before_.clear();
    reset();
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
        failure_ = failure(
            static_cast<tw_status>(-std::countr_zero(static_cast<std::uint64_t>(state.failed))),
            "field '{}': samples before the restart cannot be used",
            OfVariable{variable_.field.name});
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
    const std::int64_t size = detail::size_of(variable_.type);
    for (auto& [number, ended] : before_) {
        if (ended.copy.empty()) continue;
        ended.copy.resize(places.size() * size);
        gather(other.before_.at(number).copy.data(), size, ended.copy.data());
    }
    sums_.reset();
    if (!other.sums_) return;
    sums_.emplace(variable_.statistic, std::ssize(places));
    sums_->set_numbers(other.sums_->numbers());
    const std::vector<StateArray> from = other.sums_->arrays(), to = sums_->arrays();
    for (std::size_t a = 0; a < to.size(); ++a)
        gather(from[a].data, detail::size_of(to[a].type), to[a].data);
}

std::vector<StateArray> Samples::arrays() {
    return sums_ && !variable_.instant() ? sums_->arrays() : std::vector<StateArray>{};
}

}  // namespace thalweg::history
