// Draws a map of a variable with characters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "show/map.hpp"

namespace thalweg::app {

/// Draws a map as lines of text.
/// @param colour draw with the colours of a terminal; otherwise with characters from ' ' to '@'
std::string text_of(const Map& map, bool colour);

}  // namespace thalweg::app
