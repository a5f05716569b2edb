// SPDX-License-Identifier: Apache-2.0
#include "show/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "show/png.hpp"
#include "write_text.hpp"

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

/// Returns the colours of the levels, from dark violet over green to light yellow.
std::vector<Colour> level_colours() {
    constexpr std::array<Colour, 5> stops{
        {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    std::vector<Colour> colours(255);
    for (std::size_t k = 0; k < colours.size(); ++k) {
        const double at = static_cast<double>(k) * (stops.size() - 1) / (colours.size() - 1);
        const std::size_t stop = std::min(static_cast<std::size_t>(at), stops.size() - 2);
        for (std::size_t i = 0; i < 3; ++i) {
            const double low = stops[stop][i], high = stops[stop + 1][i];
            colours[k][i] = static_cast<std::uint8_t>(
                std::lround(low + (high - low) * (at - static_cast<double>(stop))));
        }
    }
    return colours;
}

}  // namespace

std::string text_of(const Map& map, bool colour) {
    return fmt::format("{}{}\ntop: {}\n{}bottom: {}; left: {}; right: {}\n",
                       range_text(map, colour ? "blue" : "' '", colour ? "red" : "'@'"),
                       colour ? "" : "; no value: '?'", map.top, draw(map, colour), map.bottom,
                       map.left, map.right);
}

detail::Status write_png(const Map& map, const std::string& path, std::string& caption) {
    Picture picture;
    picture.colours = level_colours();
    picture.colours.push_back({200, 200, 200});  // colour of cells without a value
    const int levels = static_cast<int>(picture.colours.size()) - 1;
    // Enlarge small maps, so that single elements are visible.
    const std::int64_t scale = std::max<std::int64_t>(1, 480 / std::max(map.rows, map.columns));
    picture.rows = map.rows * scale;
    picture.columns = map.columns * scale;
    for (std::int64_t r = 0; r < picture.rows; ++r)
        for (std::int64_t c = 0; c < picture.columns; ++c) {
            const double value = map.at(r / scale, c / scale);
            picture.pixels.push_back(static_cast<std::uint8_t>(
                std::isnan(value) ? levels : map.level_of(value, levels)));
        }
    caption =
        fmt::format("{}; no value: grey\ntop: {}; bottom: {}; left: {}; right: {}\n",
                    range_text(map, "violet", "yellow"), map.top, map.bottom, map.left, map.right);
    if (detail::Status status = write_text(path, png_of(picture)); !status.ok()) return status;
    caption += fmt::format("{}: {} x {} pixels\n", path, picture.columns, picture.rows);
    return {};
}

}  // namespace thalweg::app
