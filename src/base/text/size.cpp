// SPDX-License-Identifier: Apache-2.0
#include "base/text/size.hpp"

#include <charconv>

#include "base/text/text.hpp"

namespace thalweg::detail {

const std::map<std::string, int>& size_units() {
    static const std::map<std::string, int> shifts{{"", 0},     {"B", 0},    {"KiB", 10},
                                                   {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    return shifts;
}

bool parse_size(const std::string& text, std::int64_t& value) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || value < 0) return false;
    const auto shift = size_units().find(trimmed({rest, end}));
    if (shift == size_units().end() || value > (INT64_MAX >> shift->second)) return false;
    value <<= shift->second;
    return true;
}

std::string size_in_words(std::int64_t bytes) {
    std::string unit;
    int shift = 0;
    for (const auto& [name, its] : size_units())
        if (its > shift && bytes % (std::int64_t(1) << its) == 0 && bytes != 0) {
            unit = name;
            shift = its;
        }
    return std::to_string(bytes >> shift) + unit;
}

}  // namespace thalweg::detail
