// Generates maps of any size like those of E3SM, each rank its own part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "irregular/list.hpp"

namespace thalweg::bench::irregular {

/// Generates a rank's list for the map "f", "g", "c" or "i" with about `elements` elements, over
/// all dimensions. Throws std::invalid_argument for another name, as does the next function. Local.
List generate(const std::string& kind, std::int64_t elements, std::uint64_t seed, int rank,
              int ranks);

/// Returns a description of the map of a kind.
const char* generator_text(const std::string& kind);

}  // namespace thalweg::bench::irregular
