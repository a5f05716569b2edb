// SPDX-License-Identifier: Apache-2.0
#include "history/selection/computed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "history/levels/interpolate.hpp"
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

Status Computed::match() {
    const Part& like = inputs_[how_.like]->step->part();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const Part& held = inputs_[i]->step->part();
        places_[i].clear();
        if (same_part(like, held) || find_places(like, held, places_[i])) continue;
        return detail::failure(TW_ESETTING,
                               "a rank does not hold the same elements of '{}' and '{}'",
                               inputs_[i]->declared.name, inputs_[how_.like]->declared.name);
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

/// Loads values of an input for elements of the result, for Expression::Load.
void Computed::load(int input, std::int64_t first, std::int64_t count, double* values,
                    unsigned char* missing) const {
    const Field& field = *inputs_[input];
    const DeclaredField& declared = field.declared;
    const Integers& places = places_[input];
    with_type(declared.type, [&](auto named) {
        using T = typename decltype(named)::type;
        const T* const data = reinterpret_cast<const T*>(field.step->data());
        const auto read = [&](auto place) {
            for (std::int64_t i = 0; i < count; ++i)
                values[i] = static_cast<double>(data[place(i)]);
        };
        if (places.empty())
            read([&](std::int64_t i) { return first + i; });
        else
            read([&](std::int64_t i) { return places[first + i]; });
    });
    std::fill_n(missing, count, 0);
    if (declared.missing == Missing::none) return;
    const double mark = number_of(declared.type, declared.missing_value);
    const bool is_nan = std::isnan(mark);
    for (std::int64_t i = 0; i < count; ++i)
        missing[i] = is_nan ? values[i] != values[i] : values[i] == mark;
}

/// Interpolates a box, some columns at a time.
/// @param first, result  positions of the box's first value and result; become those of the next
/// box
void Computed::interpolate_box(int box, std::int64_t& first, std::int64_t& result) {
    const Part& part = inputs_.front()->step->part();
    const Integers extent = extent_of(part, box);
    std::size_t along = place_of(how_.levels->dim, part.dims);
    if (part.listed > 0 && static_cast<int>(along) > part.first_listed) along -= part.listed - 1;
    const std::int64_t outer = elements_of({extent.begin(), extent.begin() + along});
    const std::int64_t inner = elements_of({extent.begin() + along + 1, extent.end()});
    const std::int64_t levels = extent[along], wanted = std::ssize(how_.levels->values);
    // In memory either the levels of a column are adjacent, or those of a level are.
    const bool by_column = inner == 1;
    const std::int64_t row = by_column ? outer : inner, rows = by_column ? 1 : outer;
    const std::int64_t together = std::clamp<std::int64_t>(2048 / levels, 16, 256);
    std::array<std::vector<double>, 2> values;
    std::array<std::vector<unsigned char>, 2> missing;
    std::array<Columns, 2> columns;
    for (int i = 0; i < 2; ++i) {
        values[i].resize(together * levels);
        missing[i].resize(together * levels);
        columns[i] = {0,
                      levels,
                      by_column ? levels : 1,
                      by_column ? 1 : together,
                      values[i].data(),
                      missing[i].data()};
    }
    for (std::int64_t o = 0; o < rows; ++o)
        for (std::int64_t begin = 0; begin < row; begin += together) {
            const std::int64_t count = std::min(together, row - begin);
            for (int i = 0; i < 2; ++i) {
                columns[i].count = count;
                if (by_column)
                    load(i, first + begin * levels, count * levels, values[i].data(),
                         missing[i].data());
                for (std::int64_t k = 0; k < levels && !by_column; ++k)
                    load(i, first + (o * levels + k) * row + begin, count, &values[i][k * together],
                         &missing[i][k * together]);
            }
            const std::int64_t to = by_column ? begin * wanted : o * wanted * row + begin;
            interpolate(*how_.levels, columns[0], columns[1], mark(),
                        {count, wanted, by_column ? wanted : 1, by_column ? 1 : row,
                         values_.data() + result + to, nullptr});
        }
    first += rows * row * levels;
    result += rows * row * wanted;
}

double Computed::mark() const { return number_of(TW_DOUBLE, result_.declared.missing_value); }

std::vector<SentBox> Computed::compute() {
    const Part& like = inputs_[how_.like]->step->part();
    std::int64_t elements = inputs_[how_.like]->step->elements();
    if (how_.levels)
        elements = elements / like.shape[place_of(how_.levels->dim, like.dims)] *
                   std::ssize(how_.levels->values);
    values_.resize(elements);
    std::int64_t first = 0, result = 0;
    if (how_.expression)
        how_.expression->evaluate(
            elements, mark(),
            [this](int input, std::int64_t at, std::int64_t count, ElementBlock& block) {
                load(input, at, count, block.value.data(), block.missing.data());
            },
            values_.data());
    else
        for (int b = 0; b < std::max(like.boxes, like.listed > 0 ? 1 : 0); ++b)
            interpolate_box(b, first, result);
    return dense_boxes(result_.part, reinterpret_cast<const char*>(values_.data()), 8);
}

}  // namespace thalweg::history
