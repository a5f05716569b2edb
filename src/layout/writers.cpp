// SPDX-License-Identifier: Apache-2.0
#include "layout/writers.hpp"

#include <charconv>

namespace thalweg {

WriterCount parse_writers(const std::string& text) {
    WriterCount count;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count.number);
    const std::string unit(rest, end);
    if (error != std::errc() || count.number < 1 || !(unit.empty() || unit == "/node")) return {};
    count.per_node = !unit.empty();
    return count;
}

Tiles parse_tiles(const std::string& text) {
    Tiles tiles;
    const char* end = text.data() + text.size();
    const auto x = std::from_chars(text.data(), end, tiles.x);
    if (x.ec != std::errc() || x.ptr == end || *x.ptr != 'x') return {};
    const auto y = std::from_chars(x.ptr + 1, end, tiles.y);
    if (y.ec != std::errc() || y.ptr != end || tiles.x < 1 || tiles.y < 1) return {};
    return tiles;
}

}  // namespace thalweg
