// Service inline: cuts the parts that a rank sends to the writers into rounds, so that no writer
// receives more at a time than it has memory for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "definitions/definitions.hpp"
#include "exchange/part.hpp"

namespace thalweg::detail {

/// The elements of a packed box of a part that lie in a smaller box.
struct RestPiece {
    const Part* part = nullptr;
    std::size_t at = 0;  ///< index of the part's box
    Box within;
};

/// Returns the bytes of packed parts in messages, with the descriptions of their boxes.
std::int64_t message_bytes(std::span<const Part> parts, std::span<const Variable> variables);

/// Cuts packed parts to rounds of at most `most` bytes, in their order.
std::vector<std::vector<RestPiece>> cut_to_rounds(std::span<const Part> parts,
                                                  std::span<const Variable> variables,
                                                  std::int64_t most);

}  // namespace thalweg::detail
