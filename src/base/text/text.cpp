// SPDX-License-Identifier: Apache-2.0
#include "base/text/text.hpp"

#include <algorithm>

namespace thalweg::detail {

std::string trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return std::string(text.substr(0, text.find_last_not_of(blanks) + 1));
}

std::string joined_names(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        if (!list.empty()) list += ' ';
        for (const char c : name) {
            if (c == ' ' || c == '\\') list += '\\';
            list += c;
        }
    }
    return list;
}

}  // namespace thalweg::detail
