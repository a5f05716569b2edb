// Held boxes as words of a message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// Lows and counts, and of a list its dimensions and indices.
void append_held(std::vector<std::int64_t>& words, const HeldBox& held);
/// The reverse, at positions of its own; `at` moves behind it.
HeldBox parse_held(const std::int64_t*& at, std::span<const std::int64_t> shape);

/// Boxes of one of several: its number, how many, and the boxes.
void append_boxes(std::vector<std::int64_t>& words, std::int64_t number,
                  std::span<const HeldBox> boxes);
/// Calls add(number, box) for all boxes in such words. @param shape  tells that of a number
template <class Shape, class Add>
void for_boxes(std::span<const std::int64_t> words, Shape&& shape, Add&& add) {
    for (const std::int64_t *at = words.data(), *end = at + words.size(); at != end;) {
        const std::int64_t number = *at++;
        for (std::int64_t n = *at++; n > 0; --n) add(number, parse_held(at, shape(number)));
    }
}

/// Dimensions and indices of a list.
void append_listing(std::vector<std::int64_t>& words, const Listing& listing);
/// The reverse; `at` moves behind it.
std::shared_ptr<const Listing> parse_listing(const std::int64_t*& at,
                                             std::span<const std::int64_t> shape);

/// Adds the boxes of a held one that some elements of a writer's share meet. Of a list, those that
/// differ along listed dimensions only.
void add_frames(const Share& share, std::size_t place, const HeldBox& held,
                std::vector<Box>& frames);

/// Of a list the runs that meet some of the boxes, whole; a box as it is.
HeldBox held_near(const HeldBox& held, std::span<const Box> frames);

}  // namespace thalweg::detail
