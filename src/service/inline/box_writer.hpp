// Service inline: writes a box of a variable by one rank alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "exchange/part.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

/// Tests if a part is one box whose place in the file is known, and if no other data or fill values
/// are written there without a look at the file.
bool can_write_box(const FileContext& file, const Target& target, const Part& part);

/// Packs and writes the only box of a part, a piece that fits into the cache at a time.
/// @param misfits  receives the number of values that do not fit the variable's type
Status write_box(FileContext& file, Target& target, const Part& part, std::int64_t& misfits);

}  // namespace thalweg::detail
