// SPDX-License-Identifier: Apache-2.0
#include "verify/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "index/types.hpp"

namespace thalweg::app {

namespace {

constexpr std::size_t most_shown = 8, most_characters = 60;

std::string quoted(const char* text, std::size_t n) {
    std::string out = "\"";
    for (std::size_t i = 0; i < std::min(n, most_characters); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c == '"' || c == '\\')
            out += {'\\', text[i]};
        else if (c == '\n')
            out += "\\n";
        else if (c < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", c);
        else
            out += text[i];
    }
    return out + (n > most_characters ? fmt::format("...\" ({} characters)", n) : "\"");
}

template <class T>
T value_at(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class T>
std::string text_of_number(T value) {
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(value)) {
            using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
            return fmt::format("nan (0x{:x})", value_at<Bits>(reinterpret_cast<char*>(&value)));
        }
    return fmt::format("{}", value);
}

}  // namespace

std::string text_of(Type type, const char* value) {
    std::string text;
    with_type(type, [&](auto* t) {
        using T = std::remove_pointer_t<decltype(t)>;
        if constexpr (std::is_same_v<T, char>)
            text = quoted(value, 1);
        else
            text = text_of_number(value_at<T>(value));
    });
    return text;
}

std::string text_of(Type type, const std::vector<char>& values) {
    if (type == Type::text) return quoted(values.data(), values.size());
    const std::size_t size = size_of(type), n = size == 0 ? 0 : values.size() / size;
    std::string text;
    for (std::size_t i = 0; i < std::min(n, most_shown); ++i)
        text += (i > 0 ? ", " : "") + text_of(type, values.data() + i * size);
    if (n > most_shown) text += fmt::format(", ... ({} values)", n);
    return n == 0 ? "(no values)" : text;
}

nlohmann::ordered_json json_of(Type type, const char* value) {
    nlohmann::ordered_json json;
    with_type(type, [&](auto* t) {
        using T = std::remove_pointer_t<decltype(t)>;
        const T v = value_at<T>(value);
        if constexpr (std::is_same_v<T, char>) {
            json = fmt::format("{}", static_cast<unsigned char>(v) < 0x80 ? std::string(1, v)
                                                                          : text_of(type, value));
        } else if constexpr (std::is_floating_point_v<T>) {
            if (std::isfinite(v))
                json = v;
            else
                json = text_of_number(v);
        } else {
            json = v;
        }
    });
    return json;
}

std::string name_of(Type type) {
    return type == Type::none ? "user-defined or string"
                              : detail::name_of(static_cast<tw_type>(type));
}

std::size_t size_of(Type type) {
    return type == Type::none ? 0 : detail::size_of(static_cast<tw_type>(type));
}

}  // namespace thalweg::app
