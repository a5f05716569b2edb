// SPDX-License-Identifier: Apache-2.0
#include "history/selection/step_values.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "index/types.hpp"

namespace thalweg::history {

void StepValues::take(std::span<const SentBox> boxes, std::int64_t size, bool whole) {
    const ChosenBox* const piece = all_.pieces.size() == 1 ? &all_.pieces.front() : nullptr;
    if (whole && piece != nullptr && boxes.size() == 1 && boxes.front().box == piece->box &&
        boxes.front().stride == dense_steps(piece->count, size)) {
        data_ = boxes.front().base + dot(piece->start, boxes.front().stride);
        return;
    }
    copy_.resize(all_.elements * size);
    for (const SentBox& box : boxes) copy_elements(all_, box, size, copy_.data());
    data_ = copy_.data();
}

void StepWeights::take(std::span<const SentBox> boxes, bool last) {
    read_numbers(*chosen, boxes, *field, 0, sent_);
    if (!last) return;
    ready_ = true;
    if (places.empty()) {
        values_.swap(sent_);
        return;
    }
    values_.resize(places.size());
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = sent_[places[i]];
}

void StepWeights::end_step() {
    ready_ = false;
    values_.clear();
}

void StepWeights::find_local(Time previous, Time now) {
    if (!has_local_times()) return;
    const Time from = previous - floor_div(previous, one_day) * one_day, length = now - previous;
    values_.assign(local_times.size() / local_count, 0);
    for (std::size_t first = 0; first < local_times.size(); first += values_.size())
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const Time after = local_times[first + i] - from;
            const Time ahead = after > 0 ? after : after + one_day;
            if (ahead > 0 && ahead <= length) values_[i] = 1;
        }
}

Status StepWeights::check(const std::string& weighted) const {
    if (field == nullptr || ready_) return {};
    return failure(
        TW_ESTATE,
        "field '{}' was sent before its weight '{}': in each step, send the weight first",
        detail::OfVariable{weighted}, field->name);
}

Status Computed::match() {
    const Part& like = inputs_[how_.like]->step->part();
    places_.assign(inputs_.size(), {});
    levels_.assign(inputs_.size(), 1);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const Part& held = inputs_[i]->step->part();
        Part form = like;
        if (how_.levels) {
            // The levels of an input replace those of the first one: layers have interfaces.
            std::string dim = how_.levels->dim;
            for (int d = 0; d < held.nd(); ++d)
                if (held.dims[d] == dim || place_of(held.dims[d], like.dims) < 0) {
                    dim = held.dims[d];
                    levels_[i] = held.shape[d];
                }
            (void)replace_dim(form, how_.levels->dim, dim, levels_[i]);  // checked by add_levels()
        }
        if (form == held || find_places(form, held, places_[i])) continue;
        return failure(TW_ESETTING, "a rank does not hold the same elements of '{}' and '{}'",
                       inputs_[i]->name, inputs_[how_.like]->name);
    }
    return {};
}

void Computed::begin_step() {
    for (Field* input : inputs_) input->wanted = 1;
    waiting_ = std::ssize(inputs_);
    weight_.reset();
    differs_ = false;
}

bool Computed::note(const double* weight) {
    const auto own = weight == nullptr ? std::optional<double>() : *weight;
    if (waiting_ == std::ssize(inputs_)) weight_ = own;
    differs_ = differs_ || own != weight_;
    return --waiting_ == 0;
}

template <class T>
static bool is_exact(T value) {
    const auto size =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    return size == 0 || std::bit_width(size) - std::countr_zero(size) <= 53;
}

/// Converts values of an input for elements of the result.
/// @param step  distance of the converted values
void Computed::load(int input, std::int64_t first, std::int64_t count, double* values,
                    std::int64_t step) {
    const Field& field = *inputs_[input];
    const Integers& places = places_[input];
    detail::with_number(field.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const data = reinterpret_cast<const T*>(field.step->data());
        [[maybe_unused]] const bool misses = field.missing != Missing::none;
        [[maybe_unused]] const T mark = value_as<T>(field.missing_value);
        const auto read = [&](auto place) {
            for (std::int64_t i = 0; i < count; ++i) {
                const T value = data[place(i)];
                values[i * step] = static_cast<double>(value);
                if constexpr (sizeof(T) == 8 && !std::is_floating_point_v<T>)
                    if (inexact_.ok() && !is_exact(value) && !(misses && value == mark))
                        inexact_ = failure(
                            TW_ERANGE, "'{}' is computed in double, which lacks {} of field '{}'",
                            result_.name, value, detail::OfVariable{field.name});
            }
        };
        if (places.empty())
            read([&](std::int64_t i) { return first + i; });
        else
            read([&](std::int64_t i) { return places[first + i]; });
    });
}

MissingMark Computed::missing_of(int input) const {
    const Field& declared = *inputs_[input];
    return {declared.missing != Missing::none, number_of(declared.type, declared.missing_value)};
}

/// Interpolates a box, some columns at a time.
/// @param columns, result  numbers of columns and results before the box; then also of its own
void Computed::interpolate_box(int box, std::int64_t& columns, std::int64_t& result) {
    const Part& part = inputs_.front()->step->part();
    const Integers extent = extent_of(part, box);
    std::size_t along = place_of(how_.levels->dim, part.dims);
    if (part.listed > 0 && static_cast<int>(along) > part.first_listed) along -= part.listed - 1;
    const std::int64_t outer = volume(std::span(extent).first(along));
    const std::int64_t inner = volume(std::span(extent).subspan(along + 1));
    const std::int64_t wanted = how_.levels->size();
    // In memory either the levels of a column are adjacent, or those of a level are.
    const bool by_column = inner == 1;
    const std::int64_t row = by_column ? outer : inner, rows = by_column ? 1 : outer;
    // Some columns of field and coordinate fit into the first-level cache.
    const std::int64_t together = std::clamp<std::int64_t>(2048 / levels_[0], 16, 64);
    std::vector<std::vector<double>> values(inputs_.size());
    std::vector<Columns> given;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        values[i].resize(together * levels_[i]);
        given.push_back({0, levels_[i], values[i].data(), missing_of(static_cast<int>(i))});
    }
    for (std::int64_t o = 0; o < rows; ++o)
        for (std::int64_t begin = 0; begin < row; begin += together) {
            const std::int64_t count = std::min(together, row - begin);
            for (std::size_t i = 0; i < inputs_.size(); ++i) {
                const std::int64_t levels = levels_[i];
                const std::int64_t first =
                    (columns + (by_column ? begin : o * row)) * levels + (by_column ? 0 : begin);
                given[i].count = count;
                if (by_column)
                    load(static_cast<int>(i), first, count * levels, values[i].data(), 1);
                for (std::int64_t k = 0; k < levels && !by_column; ++k)
                    load(static_cast<int>(i), first + k * row, count, &values[i][k], levels);
            }
            const std::int64_t to = by_column ? begin * wanted : o * wanted * row + begin;
            interpolate(*how_.levels, given, mark(), values_.data() + result + to,
                        by_column ? wanted : 1, by_column ? 1 : row);
        }
    columns += rows * row;
    result += rows * row * wanted;
}

double Computed::mark() const { return number_of(TW_DOUBLE, result_.missing_value); }

Status Computed::compute(std::vector<SentBox>& boxes) {
    const Part& like = inputs_[how_.like]->step->part();
    std::int64_t elements = inputs_[how_.like]->step->elements();
    if (how_.levels) elements = elements / levels_[0] * how_.levels->size();
    values_.resize(elements);
    std::int64_t columns = 0, result = 0;
    if (how_.expression)
        how_.expression->evaluate(
            elements, mark(),
            [this](int input, std::int64_t at, std::int64_t count, ElementBlock& block) {
                load(input, at, count, block.value.data(), 1);
                const MissingMark missing = missing_of(input);
                for (std::int64_t i = 0; i < count; ++i)
                    block.missing[i] = missing.is(block.value[i]) ? 1 : 0;
            },
            values_.data());
    else
        for (int b = 0; b < std::max(like.boxes, like.listed > 0 ? 1 : 0); ++b)
            interpolate_box(b, columns, result);
    boxes = dense_boxes(result_.part, reinterpret_cast<const char*>(values_.data()), 8);
    return std::exchange(inexact_, {});
}

}  // namespace thalweg::history
