// SPDX-License-Identifier: Apache-2.0
#include "base/text/text.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

void add(std::string& text, std::string_view item) { text += item; }
void add(std::string& text, std::int64_t item) { text += std::to_string(item); }

template <class Item>
std::string join(std::span<const Item> items, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) text += separator;
        add(text, items[i]);
    }
    return text;
}

}  // namespace

std::string joined(std::span<const std::string> items, std::string_view separator) {
    return join(items, separator);
}
std::string joined(std::span<const std::string_view> items, std::string_view separator) {
    return join(items, separator);
}
std::string joined(std::span<const std::int64_t> items, std::string_view separator) {
    return join(items, separator);
}
std::string joined(std::span<const int> items, std::string_view separator) {
    return join(items, separator);
}

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
