// A rough map of a variable in characters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "in_session.hpp"

namespace thalweg::app {

/**
 * Draws the last two dimensions of a variable, in the last record and at the first index of the
 * other dimensions. Reads one row of the file for each line of the map.
 * @param columns  width of the map in characters
 * @param colour   draw with the colours of a terminal, else with characters from ' ' to '@'
 * @return lines of text. Throws Error (TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE) on every rank
 * @note Collective
 */
std::string plot(Reader& file, const std::string& name, int columns, bool colour);

}  // namespace thalweg::app
