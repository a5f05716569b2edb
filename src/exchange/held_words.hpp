// Held boxes as words of a message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// Appends lows and counts, and the dimensions and indices of a list.
void append_held(std::vector<std::int64_t>& words, const HeldBox& held);
/// Parses the words of append_held(), with new positions; `at` moves behind them.
HeldBox parse_held(const std::int64_t*& at, std::span<const std::int64_t> shape);

/// Appends the boxes of one of several objects: its number, their number, and the boxes.
void append_boxes(std::vector<std::int64_t>& words, std::int64_t number,
                  std::span<const HeldBox> boxes);
/// Calls add(number, box) for all boxes in such words. @param shape  returns the shape of a number
template <class Shape, class Add>
void for_boxes(std::span<const std::int64_t> words, Shape&& shape, Add&& add) {
    for (const std::int64_t *at = words.data(), *end = at + words.size(); at != end;) {
        const std::int64_t number = *at++;
        for (std::int64_t n = *at++; n > 0; --n) add(number, parse_held(at, shape(number)));
    }
}

/// Appends the dimensions and indices of a list.
void append_listing(std::vector<std::int64_t>& words, const Listing& listing);
/// Parses the words of append_listing(); `at` moves behind them.
std::shared_ptr<const Listing> parse_listing(const std::int64_t*& at,
                                             std::span<const std::int64_t> shape);

/// Adds the boxes of a held one that some elements of a writer's share meet; for a list, those that
/// differ along listed dimensions only.
void add_frames(const Share& share, std::size_t place, const HeldBox& held,
                std::vector<Box>& frames);

/// Returns the whole runs of a list that meet some of the boxes; a box as it is.
HeldBox held_near(const HeldBox& held, std::span<const Box> frames);

}  // namespace thalweg::detail
