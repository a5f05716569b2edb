// Pictures of a map of a variable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"
#include "show/map.hpp"

namespace thalweg::app {

/// Returns the size of a map that is drawn with characters.
/// @param columns  width of the map
inline MapSize character_map(int columns) { return {columns, 8, 36, 2}; }

/// Returns the size of a map in pixels. There is at most one pixel for each element.
inline MapSize pixel_map() { return {1440, 1, 2160, 1}; }

/// Draws a map as lines of text.
/// @param colour draw with the colours of a terminal; otherwise with characters from ' ' to '@'
std::string text_of(const Map& map, bool colour);

/// Writes a map as a PNG file. Local.
/// @param caption  receives lines that explain the picture
detail::Status write_png(const Map& map, const std::string& path, std::string& caption);

}  // namespace thalweg::app
