// Sizes in bytes as people write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thalweg::detail {

/// "", "B", "KiB", "MiB", "GiB", "TiB", and the power of two of each.
const std::map<std::string, int>& size_units();

/// "4096", "64KiB", "2 GiB". @return whether the text is a size that 64 bits hold
bool parse_size(const std::string& text, std::int64_t& value);

/// Writes a size with the largest unit of which it is a multiple: "1TiB", "4095".
std::string size_in_words(std::int64_t bytes);

}  // namespace thalweg::detail
