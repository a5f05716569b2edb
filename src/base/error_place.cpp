// SPDX-License-Identifier: Apache-2.0
#include "base/error_place.hpp"

#include <charconv>

namespace thalweg::detail {

namespace {

/// Returns the number after the first, or last, occurrence of "word " as a separate word; -1 if
/// there is none.
std::int64_t number_after(std::string_view text, std::string_view word, bool last = false) {
    std::int64_t found = -1;
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const char before = at == 0 ? ' ' : text[at - 1];
        if (before != ' ' && before != '(' && word.front() != '(') continue;
        const char* const digits = text.data() + at + word.size();
        std::int64_t value = -1;
        const auto [end, error] = std::from_chars(digits, text.data() + text.size(), value);
        if (error != std::errc() || end == digits || value < 0) continue;
        found = value;
        if (!last) break;
    }
    return found;
}

/// Returns the end of a quoted name: the first quote that is followed by punctuation, a blank or
/// nothing, as names may contain apostrophes.
std::size_t end_of_name(std::string_view text, std::size_t from) {
    for (auto at = text.find('\'', from); at != std::string_view::npos;
         at = text.find('\'', at + 1))
        if (at + 1 == text.size() ||
            std::string_view(" :;,.)").find(text[at + 1]) != std::string_view::npos)
            return at;
    return std::string_view::npos;
}

}  // namespace

ErrorPlace find_place(std::string_view text, std::string_view file) {
    ErrorPlace place;
    // Paths in messages are absolute, unless a call reports the path that it was given.
    if (file.empty() && text.starts_with('/')) file = text.substr(0, text.find(": "));
    place.file = file;
    // Remove the path: a part of it may look like one of the words that are searched for.
    if (!file.empty() && text.starts_with(file)) text.remove_prefix(file.size());
    constexpr std::string_view begin = "variable '";
    if (const auto at = text.find(begin); at != std::string_view::npos) {
        const auto name = at + begin.size();
        const auto end = end_of_name(text, name);
        if (end != std::string_view::npos) {
            place.variable = text.substr(name, end - name);
            text.remove_prefix(end + 1);
        }
    }
    place.record = number_after(text, "record ");
    place.rank = number_after(text, "(rank ", true);
    if (place.rank < 0) place.rank = number_after(text, "rank ");
    return place;
}

}  // namespace thalweg::detail
