// SPDX-License-Identifier: Apache-2.0
#include "history/variable.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "history/places.hpp"
#include "index/types.hpp"

namespace thalweg::history {

using detail::failure;
using detail::OfVariable;

namespace {

template <class T>
Value typed_value(double number) {
    const T typed = static_cast<T>(number);
    Value value{};
    std::memcpy(value.data(), &typed, sizeof typed);
    return value;
}

template <class T>
double number_at(const char* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return static_cast<double>(value);
}

}  // namespace

double number_of(tw_type type, const char* data) {
    switch (type) {
        case TW_BYTE: return number_at<std::int8_t>(data);
        case TW_UBYTE: return number_at<std::uint8_t>(data);
        case TW_SHORT: return number_at<std::int16_t>(data);
        case TW_USHORT: return number_at<std::uint16_t>(data);
        case TW_INT: return number_at<std::int32_t>(data);
        case TW_UINT: return number_at<std::uint32_t>(data);
        case TW_INT64: return number_at<std::int64_t>(data);
        case TW_UINT64: return number_at<std::uint64_t>(data);
        case TW_FLOAT: return number_at<float>(data);
        default: return number_at<double>(data);
    }
}

namespace {

std::int64_t add_to_log(std::int64_t log, Time now, double weight) {
    const std::int64_t words[] = {log, now, std::bit_cast<std::int64_t>(weight)};
    const std::string_view bytes(reinterpret_cast<const char*>(words), sizeof words);
    return static_cast<std::int64_t>(detail::hash_of(bytes) | 1);  // or 1: never 0
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

Variable::Variable(const StreamField& about, Field& field, Weights weights,
                   const WindowRules& rules, std::shared_ptr<const Chosen> chosen)
    : about_(about),
      field_(field),
      weights_(std::move(weights)),
      rules_(rules),
      chosen_(std::move(chosen)),
      attributes_(field.attributes) {
    if (!instant()) sums_.emplace(about_.statistic, chosen_->elements);
    state_.weight.previous = state_.inner_weight.previous = rules_.begin();
}

void Variable::set_pick(const Pick& pick, std::vector<std::string> names) {
    pick_ = pick;
    std::string list = text_of(attributes_, "coordinates");
    const std::vector<std::string> listed = split_dims(list.c_str());
    for (const std::string& name : names)
        if (std::find(listed.begin(), listed.end(), name) == listed.end())
            list += (list.empty() ? "" : " ") + name;
    if (!list.empty()) set_attribute(attributes_, {"coordinates", list});
    std::erase_if(attributes_,
                  [](const Attribute& a) { return a.name == "mesh" || a.name == "location"; });
}

std::int64_t Variable::bytes() const { return instant() ? 0 : sums_->bytes(); }

void Variable::begin_step(const Step& step) {
    step_ = step;
    if (step.inner_before)
        end_inner(step.before ? step.before->begin : step.window.begin, step.inner_before->end);
    if (step.before) {
        before_.emplace();
        before_->log = state_.log;
        before_->wanted = state_.wanted != 0;
        before_->failure = failure_;
        if (state_.log != 0) before_->status = compute(before_->values);
        reset();
    }
    if (step.used) state_.wanted = 1;
}

Status Variable::check_weight() const {
    if (weights_.field == nullptr || weights_ready_) return {};
    return detail::failure(TW_ESTATE,
                           "field '{}' was sent before its weight '{}': in each step, send the "
                           "weight first",
                           OfVariable{field_.declared.name}, weights_.field->declared.name);
}

void Variable::take(std::span<const SentBox> boxes, const double* own_weight, Time now, bool first,
                    bool last) {
    if (first) {
        if (instant()) sums_.emplace(about_.statistic, chosen_->elements);
        double weight = 1;
        if (own_weight != nullptr)
            weight = *own_weight;
        else if (!instant() && !about_.statistic.counts)
            weight = state_.weight.next(about_.inner ? step_.inner.begin : step_.window.begin, now);
        sums_->begin_sample(weight);
        state_.log = add_to_log(state_.log, now, weight);
    }
    for (const SentBox& box : boxes) add(box);
    if (!last) return;
    Status ended = sums_->end_sample();
    if (!ended.ok())
        fail(failure(ended.code, "field '{}': {}", OfVariable{field_.declared.name}, ended.text));
}

void Variable::add(const SentBox& box) {
    const std::int64_t size = detail::size_of(about_.statistic.type);
    for_rows(*chosen_, box,
             [&](std::int64_t first, std::int64_t count, const char* data, std::int64_t stride) {
                 Run run;
                 run.first = first;
                 run.count = count;
                 run.data = data;
                 run.stride = stride / size;
                 if (!weight_.empty()) run.weights = weight_.data() + first;
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

void Variable::take_weights(std::span<const SentBox> boxes, bool last) {
    const DeclaredField& weight = weights_.field->declared;
    const double missing =
        number_of(weight.type, reinterpret_cast<const char*>(weight.missing_value.data()));
    const bool misses = weight.missing != Missing::none;
    weight_sent_.resize(weights_.chosen->elements);
    const auto keep = [&](std::int64_t first, std::int64_t count, const char* data,
                          std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
            const double value = number_of(weight.type, data + i * stride);
            weight_sent_[first + i] = misses && value == missing ? 0 : value;
        }
    };
    for (const SentBox& box : boxes) for_rows(*weights_.chosen, box, keep);
    if (!last) return;
    weights_ready_ = true;
    if (weights_.places.empty()) {
        weight_.swap(weight_sent_);
        return;
    }
    weight_.resize(weights_.places.size());
    for (std::size_t i = 0; i < weight_.size(); ++i) weight_[i] = weight_sent_[weights_.places[i]];
}

void Variable::end_inner(Time begin, Time end) {
    state_.weight.end_window();
    if (!sums_ || sums_->numbers().inner_samples == 0) return;
    const double weight = about_.statistic.counts ? 1 : state_.inner_weight.next(begin, end);
    fail(sums_->end_inner(weight));
}

void Variable::end_step() {
    if (step_.inner_ends) end_inner(step_.window.begin, step_.inner.end);
    weights_ready_ = false;
    weight_.clear();
}

Status Variable::compute(std::vector<char>& values) const {
    values.resize(chosen_->elements * detail::size_of(about_.type));
    if (!sums_) return {};  // a rank that holds no elements need not send the field
    return sums_->result(0, chosen_->elements, about_.type, fill_, values.data());
}

Status Variable::result(std::vector<char>& values) {
    if (!before_) return compute(values);
    values.swap(before_->values);
    return before_->status;
}

void Variable::end_record() {
    if (before_)
        before_.reset();
    else
        reset();
}

void Variable::reset() {
    if (instant())
        sums_.reset();
    else
        sums_->reset();
    state_.log = state_.wanted = 0;
    state_.weight.end_window();
    state_.inner_weight.end_window();
    failure_ = {};
}

VariableState Variable::state() const {
    VariableState state = state_;
    if (sums_) state.numbers = sums_->numbers();
    if (!failure_.ok()) state.failed = std::int64_t{1} << -failure_.code;
    return state;
}

void Variable::set_state(const VariableState& state) {
    state_ = state;
    if (sums_) sums_->set_numbers(state.numbers);
    if (state.failed != 0)
        failure_ = detail::failure(
            static_cast<tw_status>(-std::countr_zero(static_cast<std::uint64_t>(state.failed))),
            "field '{}': samples before the restart cannot be used",
            OfVariable{field_.declared.name});
}

void Variable::begin_at(Time time) {
    rules_.from = time;
    state_.weight.previous = state_.inner_weight.previous = rules_.begin();
}

std::vector<StateArray> Variable::arrays() {
    return sums_ && !instant() ? sums_->arrays() : std::vector<StateArray>{};
}

Status match_weights(const Chosen& chosen, Weights& weights) {
    if (same_part(chosen.part, weights.chosen->part) ||
        find_places(chosen.part, weights.chosen->part, weights.places))
        return {};
    return detail::failure(TW_ESETTING, "a rank does not hold the same elements of the weight '{}'",
                           weights.field->declared.name);
}

Value value_of(tw_type type, double number) {
    switch (type) {
        case TW_BYTE: return typed_value<std::int8_t>(number);
        case TW_UBYTE: return typed_value<std::uint8_t>(number);
        case TW_SHORT: return typed_value<std::int16_t>(number);
        case TW_USHORT: return typed_value<std::uint16_t>(number);
        case TW_INT: return typed_value<std::int32_t>(number);
        case TW_UINT: return typed_value<std::uint32_t>(number);
        case TW_INT64: return typed_value<std::int64_t>(number);
        case TW_UINT64: return typed_value<std::uint64_t>(number);
        case TW_FLOAT: return typed_value<float>(number);
        default: return typed_value<double>(number);
    }
}

Value fill_of(tw_type type) {
    if (type == TW_FLOAT || type == TW_DOUBLE) return value_of(type, 1e20);
    Value value{};
    detail::default_fill(type, value.data());
    return value;
}

}  // namespace thalweg::history
