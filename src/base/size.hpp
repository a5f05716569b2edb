// Sizes in bytes as people write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thalweg::detail {

/// Returns for each unit ("", "B", "KiB", "MiB", "GiB", "TiB") the exponent of its power of two.
const std::map<std::string, int>& size_units();

/// Parses a size such as "4096", "64KiB" or "2 GiB".
/// @return false if the text is not a size, or exceeds 64 bits
bool parse_size(const std::string& text, std::int64_t& value);

/// Formats a size with the largest unit of which it is a multiple: "1TiB", "4095".
std::string size_in_words(std::int64_t bytes);

}  // namespace thalweg::detail
