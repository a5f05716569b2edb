// Checksums of variables that do not depend on which rank holds which element, or in which order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "exchange/holding.hpp"

namespace thalweg::detail {

/// The attribute of a variable with its checksum, as written by `checksum_text`.
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

/// Returns the sum over the elements that this rank holds.
/// @param array  in the variable's own type
Checksum sum_held(const Variable& variable, const Holding& holding, const ArrayView& array);

/// Returns the same sum, plus this rank's share of the elements that no rank holds, which have the
/// fill value in the file. The sum over all ranks is the variable's checksum.
Checksum sum_written(const Variable& variable, const Holding& holding, const ArrayView& array,
                     int rank, int ranks);

/// Formats a checksum as 16 hexadecimal digits.
std::string checksum_text(Checksum sum);

}  // namespace thalweg::detail
