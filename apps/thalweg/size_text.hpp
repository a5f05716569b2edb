// Numbers of bytes for people.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string>

namespace thalweg::app {

/// Formats a size with three digits, in powers of 1000, for example "512 B", "1.23 MB" or "45.6
/// GB".
inline std::string size_text(std::int64_t bytes) {
    constexpr std::array units{"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000) return fmt::format("{} B", bytes);
    auto value = static_cast<double>(bytes) / 1000;
    std::size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

/// Formats a number of objects, for example "1 file" or "3 files".
inline std::string count_text(std::int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace thalweg::app
