// SPDX-License-Identifier: Apache-2.0
#include "streams/convert.hpp"

#include <algorithm>
#include <cctype>

namespace thalweg::app {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower;
}

void convert_history(std::string_view text, std::string& converted,
                     std::vector<history::Problem>& problems) {
    const bool namelist = text.find("&setup_nml") != std::string_view::npos ||
                          text.find("&icefields_nml") != std::string_view::npos;
    if (namelist)
        convert_ice_in(text, converted, problems);
    else
        convert_diag_table(text, converted, problems);
}

}  // namespace thalweg::app
