// SPDX-License-Identifier: Apache-2.0
#include "show/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace thalweg::app {

namespace {

constexpr std::string_view shades = " .:-=+*#%@";

/// Formats the title, and the range with the characters that stand for its ends.
std::string range_text(const Map& map, const char* least, const char* most) {
    if (map.most < map.least) return map.title;
    return fmt::format("{}: from {:.6g} ({}) to {:.6g} ({})", map.title, map.least, least, map.most,
                       most);
}

std::string draw(const Map& map, bool colour) {
    // Blue, green, yellow and red, as numbers in a terminal's palette of 216 colours.
    constexpr std::array cube{17, 19,  27,  33,  39,  45,  49,  47,
                              82, 154, 226, 220, 208, 202, 196, 124};
    std::string text;
    for (std::int64_t r = 0; r < map.rows; ++r) {
        for (std::int64_t c = 0; c < map.columns; ++c) {
            const double value = map.at(r, c);
            if (colour && std::isnan(value))
                text += "\x1b[0m ";
            else if (colour)
                text += fmt::format(
                    "\x1b[48;5;{}m ",
                    cube[static_cast<std::size_t>(map.level_of(value, int(cube.size())))]);
            else
                text +=
                    std::isnan(value)
                        ? '?'
                        : shades[static_cast<std::size_t>(map.level_of(value, int(shades.size())))];
        }
        text += colour ? "\x1b[0m\n" : "\n";
    }
    return text;
}

}  // namespace

std::string text_of(const Map& map, bool colour) {
    return fmt::format("{}{}\ntop: {}\n{}bottom: {}; left: {}; right: {}\n",
                       range_text(map, colour ? "blue" : "' '", colour ? "red" : "'@'"),
                       colour ? "" : "; no value: '?'", map.top, draw(map, colour), map.bottom,
                       map.left, map.right);
}

}  // namespace thalweg::app
