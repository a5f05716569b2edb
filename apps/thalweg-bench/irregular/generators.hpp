// Maps of any size like those of E3SM: made by every rank for itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "irregular/list.hpp"

namespace thalweg::bench::irregular {

/// What a rank holds in the map "f", "g", "c" or "i" of about so many elements, over all
/// dimensions. Throws std::invalid_argument for another name, as does the next. Local.
List generate(const std::string& kind, std::int64_t elements, std::uint64_t seed, int rank,
              int ranks);

/// What the map is, in words.
const char* generator_text(const std::string& kind);

}  // namespace thalweg::bench::irregular
