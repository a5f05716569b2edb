// Pictures in the format PNG.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::app {

using Colour = std::array<std::uint8_t, 3>;  ///< red, green and blue

struct Picture {
    std::int64_t rows = 0, columns = 0;
    std::vector<Colour> colours;       ///< the palette, with at most 256 colours
    std::vector<std::uint8_t> pixels;  ///< index of each pixel's colour, top row first
};

/// Returns the bytes of a PNG file without compression, for which no library is needed.
std::string png_of(const Picture& picture);

}  // namespace thalweg::app
