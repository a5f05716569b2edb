// Joins lists into texts. <fmt/ranges.h> would compile fmt's whole formatter into each file that
// uses it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace thalweg::detail {

template <class List>
std::string joined(const List& items, std::string_view separator) {
    std::string text;
    for (const auto& item : items) {
        if (&item != &*std::begin(items)) text += separator;
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(item)>>)
            text += std::to_string(item);
        else
            text += item;
    }
    return text;
}

/// Removes blanks and ends of lines at both ends of a text.
std::string trimmed(std::string_view text);

/// Joins names to a list. split_names() converts the list back to the names.
std::string joined_names(const std::vector<std::string>& names);

}  // namespace thalweg::detail
