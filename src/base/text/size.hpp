// Sizes in bytes as people write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thalweg::detail {

/// Returns the exponent of the power of two for each unit ("", "B", "KiB", "MiB", "GiB", "TiB").
const std::map<std::string, int>& size_units();

/// Parses a size such as "4096", "64KiB" or "2 GiB".
/// @return false if the text is not a size, or if the size does not fit in 64 bits
bool parse_size(const std::string& text, std::int64_t& value);

/// Formats a size in bytes with the largest unit that divides it, for example "1TiB" or "4095".
std::string size_in_words(std::int64_t bytes);

}  // namespace thalweg::detail
