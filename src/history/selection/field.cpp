// SPDX-License-Identifier: Apache-2.0
#include "history/selection/field.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include "index/types.hpp"

namespace thalweg::history {

namespace {

using RowVisit = std::function<void(std::int64_t, std::int64_t, const char*, std::int64_t)>;

/// The loops over a piece. Dimensions are merged if both memory and elements are contiguous.
struct Joined {
    /// Lengths; distances in memory in bytes; distances among the chosen elements.
    Integers count, from, to;
};

Joined joined_rows(const ChosenBox& piece, const Integers& stride) {
    Joined joined;
    for (std::size_t d = 0; d < piece.count.size(); ++d) {
        if (piece.count[d] == 1) continue;
        if (!joined.count.empty() && joined.from.back() == stride[d] * piece.count[d] &&
            joined.to.back() == piece.step[d] * piece.count[d]) {
            joined.count.back() *= piece.count[d];
            joined.from.back() = stride[d];
            joined.to.back() = piece.step[d];
        } else {
            joined.count.push_back(piece.count[d]);
            joined.from.push_back(stride[d]);
            joined.to.push_back(piece.step[d]);
        }
    }
    if (joined.count.empty() || joined.to.back() != 1) {  // rows have one element
        joined.count.push_back(1);
        joined.from.push_back(0);
        joined.to.push_back(1);
    }
    return joined;
}

void visit_rows(const Joined& joined, std::size_t d, const char* data, std::int64_t to,
                const RowVisit& visit) {
    if (d + 1 == joined.count.size()) {
        visit(to, joined.count[d], data, joined.from[d]);
        return;
    }
    for (std::int64_t i = 0; i < joined.count[d]; ++i)
        visit_rows(joined, d + 1, data + i * joined.from[d], to + i * joined.to[d], visit);
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
        visit_rows(joined_rows(piece, sent.stride), 0, data, piece.to, visit);
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

std::vector<double> numbers_of(const Coordinate& c, const std::vector<char>& data) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < data.size(); i += c.size)
        numbers.push_back(number_of(c.type, data.data() + i));
    return numbers;
}

bool find_numbers(const Coordinate& c, const Choice& choice, const Part& part,
                  std::vector<double>& numbers) {
    const Chosen own = choose(c.part, choice);
    const std::vector<double> held = numbers_of(c, chosen_data(c, own));
    Integers places;
    const bool found = find_places(part, own.part, places);
    for (const std::int64_t place : places)
        if (found) numbers.push_back(held[place]);
    return found;
}

std::vector<SentBox> dense_boxes(const Part& part, const char* data, std::int64_t size) {
    std::vector<SentBox> boxes;
    for (int b = 0; b < std::max(part.boxes, part.listed > 0 ? 1 : 0); ++b) {
        const Integers extent = extent_of(part, b);
        boxes.push_back({b, data, dense_steps(extent, size)});
        data += elements_of(extent) * size;
    }
    return boxes;
}

Status parse_attributes(const char* text, std::vector<Attribute>& attributes) {
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

std::string text_of(const std::vector<Attribute>& attributes, std::string_view name) {
    for (const Attribute& attribute : attributes)
        if (attribute.name == name)
            if (const auto* text = std::get_if<std::string>(&attribute.value)) return *text;
    return {};
}

void set_attribute(std::vector<Attribute>& attributes, Attribute attribute) {
    const auto same = std::ranges::find(attributes, attribute.name, &Attribute::name);
    if (same == attributes.end())
        attributes.push_back(std::move(attribute));
    else
        *same = std::move(attribute);
}

void erase_attributes(std::vector<Attribute>& attributes, const char* names) {
    const std::vector<std::string> erased = split_dims(names);
    std::erase_if(attributes, [&](const Attribute& a) { return place_of(a.name, erased) >= 0; });
}

Value fill_of(tw_type type) {
    if (type == TW_FLOAT || type == TW_DOUBLE) return value_of(type, 1e20);
    Value value{};
    detail::default_fill(type, value.data());
    return value;
}

}  // namespace thalweg::history
