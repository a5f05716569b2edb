// Checksums of variables that are the same whoever holds which element, in whatever order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "exchange/holding.hpp"

namespace thalweg::detail {

/// The attribute of a variable that has its checksum, as `checksum_text` writes it.
constexpr const char* checksum_attribute = "thalweg_checksum";

/**
 * The sum over all elements of a variable, modulo 2^64, of the two halves, combined by exclusive
 * or, of the 128-bit product
 *
 *     (bits ^ 0xD6E8FEB86659FD93) * ((position + 1) * 0x9E3779B97F4A7C15 modulo 2^64)
 *
 * `bits` are those of the element as an unsigned integer, `position` is its place in the variable,
 * row by row, from 0. As the sum does not depend on its order, each rank adds up what it holds; as
 * each term depends on the position, elements that change places change it.
 */
using Checksum = std::uint64_t;

/// What the elements that this rank holds contribute.
/// @param array  of the variable's own type
Checksum sum_held(const Variable& variable, const Holding& holding, const ArrayView& array);

/// The same; and where no rank holds some elements, which have the fill value in the file, this
/// rank's part of those. Over all ranks together that is the variable's checksum.
Checksum sum_written(const Variable& variable, const Holding& holding, const ArrayView& array,
                     int rank, int ranks);

/// 16 hexadecimal digits.
std::string checksum_text(Checksum sum);

}  // namespace thalweg::detail
