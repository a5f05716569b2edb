// Joins lists into texts. <fmt/ranges.h> would compile fmt's whole formatter into each file that
// uses it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::detail {

std::string joined(std::span<const std::string> items, std::string_view separator);
std::string joined(std::span<const std::string_view> items, std::string_view separator);
std::string joined(std::span<const std::int64_t> items, std::string_view separator);
std::string joined(std::span<const int> items, std::string_view separator);

/// Removes blanks and ends of lines at both ends of a text.
std::string trimmed(std::string_view text);

/// Joins names to a list. split_names() converts the list back to the names.
std::string joined_names(const std::vector<std::string>& names);

}  // namespace thalweg::detail
