// SPDX-License-Identifier: Apache-2.0
#include "definitions/fill.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace thalweg::detail {

namespace {

template <class T>
Status parse_number(const std::string& text, FillValue& value) {
    const char* begin = text.data();
    const char* const end = begin + text.size();
    if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
    T number{};
    const auto [rest, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || rest != end) {
        if constexpr (std::is_floating_point_v<T>)
            return failure(TW_ESETTING, "it must be a {} such as 0, 1e30, nan or inf",
                           sizeof(T) == 4 ? "float" : "double");
        else
            return failure(TW_ESETTING, "it must be an integer from {} to {}",
                           +std::numeric_limits<T>::min(), +std::numeric_limits<T>::max());
    }
    std::memcpy(value.data(), &number, sizeof number);
    return {};
}

Status parse_character(const std::string& text, FillValue& value) {
    const bool quoted =
        text.size() == 3 && (text[0] == '\'' || text[0] == '"') && text[0] == text[2];
    if (!quoted && text.size() != 1)
        return failure(TW_ESETTING, "it must be one character, in quotes if it is a blank");
    value[0] = text[quoted ? 1 : 0];
    return {};
}

/// Parses a value of a type: an integer, a floating-point number (1e30, nan, inf), or one character
/// with or without quotes.
/// @return TW_OK, TW_ESETTING with the allowed forms
Status parse_fill(const std::string& text, tw_type type, FillValue& value) {
    value = {};
    if (type == TW_CHAR) return parse_character(text, value);
    return with_number(type,
                       [&](auto number) { return parse_number<decltype(number)>(text, value); });
}

/// Tests if two values have the same bits, or are both NaN.
bool same(tw_type type, const char* a, const char* b) {
    const auto both_nan = [&](auto x) {
        auto y = x;
        std::memcpy(&x, a, sizeof x);
        std::memcpy(&y, b, sizeof y);
        return std::isnan(x) && std::isnan(y);
    };
    if (std::memcmp(a, b, size_of(type)) == 0) return true;
    return (type == TW_FLOAT && both_nan(float{})) || (type == TW_DOUBLE && both_nan(double{}));
}

}  // namespace

Status choose_fill(Variable& v) {
    const auto arguments = v.settings.find("fill");
    if (arguments == v.settings.end() || arguments->second == "none") return {};
    FillValue value;
    if (const Status status = parse_fill(arguments->second, v.type, value); !status.ok())
        return failure(TW_ESETTING, "variable '{}' of type {}: setting 'fill' is '{}'; {}",
                       OfVariable{v.name}, name_of(v.type), arguments->second, status.text);
    v.fill = value;
    for (const Attribute& a : v.attributes)
        if (const Status status = check_fill(v, a); !status.ok()) return status;
    return {};
}

bool has_no_fill(const Variable& v) {
    return v.settings.contains("fill") && v.settings.at("fill") == "none";
}

bool stays_hole(const Variable& v) {
    return has_no_fill(v) && !v.record && !v.packing.filtered() && v.packing.chunks.empty();
}

Status check_fill(const Variable& v, const Attribute& a) {
    if (!v.fill || a.name != "_FillValue" || same(v.type, a.values.data(), v.fill->data()))
        return {};
    return failure(TW_ESETTING, "variable '{}': setting fill={} differs from the {}",
                   OfVariable{v.name}, v.settings.at("fill"), describe(v.name, a));
}

}  // namespace thalweg::detail
