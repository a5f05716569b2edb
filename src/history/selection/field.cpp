// SPDX-License-Identifier: Apache-2.0
#include "history/selection/field.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include "index/types.hpp"

namespace thalweg::history {

namespace {

/// A loop over a piece.
struct Loop {
    /// Length; distance in memory in bytes; distance among the chosen elements.
    std::int64_t count, from, to;
};

/// Returns the loops over a piece. Two are merged if memory and elements are contiguous.
std::vector<Loop> loops_of(const ChosenBox& piece, const Integers& stride) {
    std::vector<Loop> loops;
    for (std::size_t d = 0; d < piece.count.size(); ++d) {
        const auto [count, from, to] = Loop{piece.count[d], stride[d], piece.step[d]};
        if (count == 1) continue;
        if (!loops.empty() && loops.back().from == from * count && loops.back().to == to * count)
            loops.back() = {loops.back().count * count, from, to};
        else
            loops.push_back({count, from, to});
    }
    if (loops.empty() || loops.back().to != 1) loops.push_back({1, 0, 1});  // rows of one element
    return loops;
}

void visit_rows(std::span<const Loop> loops, const char* data, std::int64_t to,
                const RowVisit& visit) {
    const auto [count, from, step] = loops.front();
    if (loops.size() == 1) return visit(to, count, data, from);
    for (std::int64_t i = 0; i < count; ++i)
        visit_rows(loops.subspan(1), data + i * from, to + i * step, visit);
}

/// Reads numbers separated by blanks. Returns false if the text contains anything else.
bool parse_numbers(const std::string& text, std::vector<double>& numbers) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        double value = 0;
        const char* end = word.data() + word.size();
        const char* begin = word.data() + (word[0] == '+' ? 1 : 0);
        const auto [stop, error] = std::from_chars(begin, end, value);
        if (error != std::errc() || stop != end) return false;
        numbers.push_back(value);
    }
    return !numbers.empty();
}

}  // namespace

Integers extent_of(const Part& part, int box) {
    Integers extent;
    for (int d = 0; d < part.nd(); ++d) {
        if (part.listed > 0 && d == part.first_listed) extent.push_back(std::ssize(part.indices));
        if (part.listed > 0 && !part.lists(d)) extent.push_back(part.shape[d]);
        if (part.listed == 0) extent.push_back(part.count[box * part.nd() + d]);
    }
    return extent;
}

void for_rows(const Chosen& chosen, const SentBox& sent, const RowVisit& visit) {
    for (const ChosenBox& piece : chosen.pieces) {
        if (piece.box != sent.box) continue;
        const char* data = sent.base;
        for (std::size_t d = 0; d < piece.start.size(); ++d)
            data += piece.start[d] * sent.stride[d];
        visit_rows(loops_of(piece, sent.stride), data, piece.to, visit);
    }
}

void copy_elements(const Chosen& chosen, const SentBox& box, std::int64_t size, char* to) {
    for_rows(chosen, box,
             [&](std::int64_t first, std::int64_t count, const char* data, std::int64_t stride) {
                 if (stride == size) {
                     std::memcpy(to + first * size, data, count * size);
                     return;
                 }
                 for (std::int64_t i = 0; i < count; ++i)
                     std::memcpy(to + (first + i) * size, data + i * stride, size);
             });
}

void read_numbers(const Chosen& chosen, std::span<const SentBox> boxes, const DeclaredField& field,
                  double missing, std::vector<double>& numbers) {
    numbers.resize(chosen.elements);
    detail::with_number(field.type, [&](auto zero) {
        using T = decltype(zero);
        const T mark = value_as<T>(field.missing_value);
        const bool any_nan = mark != mark;
        const auto read = [&](std::int64_t first, std::int64_t count, const char* data,
                              std::int64_t stride) {
            for (std::int64_t i = 0; i < count; ++i) {
                T value;
                std::memcpy(&value, data + i * stride, sizeof value);
                const bool misses =
                    field.missing != Missing::none &&
                    (any_nan ? value != value : std::memcmp(&value, &mark, sizeof value) == 0);
                numbers[first + i] = misses ? missing : static_cast<double>(value);
            }
        };
        for (const SentBox& box : boxes) for_rows(chosen, box, read);
    });
}

std::vector<char> chosen_data(const Coordinate& c, const Chosen& chosen) {
    std::vector<char> data(chosen.elements * c.size);
    for (const SentBox& box : dense_boxes(c.part, c.data.data(), c.size))
        copy_elements(chosen, box, c.size, data.data());
    return data;
}

std::vector<double> numbers_of(const Coordinate& c) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < c.data.size(); i += c.size)
        numbers.push_back(number_of(c.type, c.data.data() + i));
    return numbers;
}

bool find_numbers(const Coordinate& c, const Choice& choice, const Part& part,
                  std::vector<double>& numbers) {
    const Chosen own = choose(c.part, choice);
    const std::vector<char> held = chosen_data(c, own);
    Integers places;
    const bool found = find_places(part, own.part, places);
    for (const std::int64_t place : places)
        if (found) numbers.push_back(number_of(c.type, held.data() + place * c.size));
    return found;
}

std::vector<SentBox> dense_boxes(const Part& part, const char* data, std::int64_t size) {
    std::vector<SentBox> boxes;
    for (int b = 0; b < std::max(part.boxes, part.listed > 0 ? 1 : 0); ++b) {
        const Integers extent = extent_of(part, b);
        boxes.push_back({b, data, dense_steps(extent, size)});
        data += volume(extent) * size;
    }
    return boxes;
}

Status parse_attributes(const char* text, Attributes& attributes) {
    const std::string all = text == nullptr ? "" : text;
    std::size_t at = 0;
    while (at < all.size()) {
        std::size_t end = at;
        for (bool quoted = false; end < all.size() && (quoted || all[end] != ';'); ++end)
            quoted ^= all[end] == '"';
        const std::string item = detail::trimmed(all.substr(at, end - at));
        at = end + 1;
        if (item.empty()) continue;
        const auto equals = item.find('=');
        if (equals == std::string::npos || detail::trimmed(item.substr(0, equals)).empty())
            return failure(TW_EARG, "'{}' is not of the form name=value", item);
        Attribute attribute{detail::trimmed(item.substr(0, equals)), {}};
        std::string value = detail::trimmed(item.substr(equals + 1));
        std::vector<double> numbers;
        const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
        if (quoted) value = value.substr(1, value.size() - 2);
        if (!quoted && attribute.name != "units" && parse_numbers(value, numbers))
            attribute.value = numbers;
        else
            attribute.value = value;
        set_attribute(attributes, std::move(attribute));
    }
    return {};
}

std::string text_of(const Attributes& attributes, std::string_view name) {
    for (const Attribute& attribute : attributes)
        if (attribute.name == name)
            if (const auto* text = std::get_if<std::string>(&attribute.value)) return *text;
    return {};
}

void set_attribute(Attributes& attributes, Attribute attribute) {
    const auto same = std::ranges::find(attributes, attribute.name, &Attribute::name);
    if (same == attributes.end())
        attributes.push_back(std::move(attribute));
    else
        *same = std::move(attribute);
}

void erase_attributes(Attributes& attributes, const char* names) {
    const Names erased = split_dims(names);
    std::erase_if(attributes, [&](const Attribute& a) { return place_of(a.name, erased) >= 0; });
}

Value fill_of(tw_type type) {
    if (type == TW_FLOAT || type == TW_DOUBLE) return value_of(type, 1e20);
    Value value{};
    detail::default_fill(type, value.data());
    return value;
}

}  // namespace thalweg::history
