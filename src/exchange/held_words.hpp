// Held boxes as words of a message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// Encodes a held box: its lowest indices and its counts, and the dimensions and indices of a list.
void append_held(std::vector<std::int64_t>& words, const HeldBox& held);
/// Decodes a box from append_held(), and computes its positions from `shape`. Advances `at`.
HeldBox parse_held(const std::int64_t*& at, std::span<const std::int64_t> shape);

/// Encodes the boxes of one object: its number, the number of boxes, and the boxes.
void append_boxes(std::vector<std::int64_t>& words, std::int64_t number,
                  std::span<const HeldBox> boxes);
/// Calls add(number, box) for all boxes that append_boxes() has encoded.
/// @param shape  function that returns the shape of the object with a number
template <class Shape, class Add>
void for_boxes(std::span<const std::int64_t> words, Shape&& shape, Add&& add) {
    for (const std::int64_t *at = words.data(), *end = at + words.size(); at != end;) {
        const std::int64_t number = *at++;
        for (std::int64_t n = *at++; n > 0; --n) add(number, parse_held(at, shape(number)));
    }
}

/// Encodes the dimensions and indices of a list.
void append_listing(std::vector<std::int64_t>& words, const Listing& listing);
/// Decodes a list that append_listing() has encoded. Moves `at` past it.
std::shared_ptr<const Listing> parse_listing(const std::int64_t*& at,
                                             std::span<const std::int64_t> shape);

/// Adds to `frames` the boxes in which a held box meets a writer's share; for lists, only one of
/// those that are alike along the listed dimensions.
void add_frames(const Share& share, std::size_t place, const HeldBox& held,
                std::vector<Box>& frames);

/// Returns the whole runs of a list that meet some of the boxes. A box is returned unchanged.
HeldBox held_near(const HeldBox& held, std::span<const Box> frames);

}  // namespace thalweg::detail
