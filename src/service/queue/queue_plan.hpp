// How large the queue of a rank is for a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/file_context.hpp"

namespace thalweg::detail {

struct QueuePlan {
    std::int64_t bytes = 0;
    std::int64_t limit = INT64_MAX;  ///< bytes of it above which units wait for earlier ones
    bool grows = false;              ///< takes memory as it is used
    bool holds_step = true;          ///< else variables go in parts
};

/// For what this rank holds. Local; depends on nothing but the file's definitions and options, and
/// the number of nodes.
QueuePlan plan_queue(const FileContext& file);

/// Bytes of the words that describe a box in a parcel.
std::int64_t description_of(const HeldBox& held);

/// Bytes that boxes of a variable take in a queue at most, however they are cut.
std::int64_t room_for_boxes(const Variable& variable, std::span<const HeldBox> boxes,
                            std::int64_t capacity);

/// Whether all of a replicated variable would not fit into the queue with the rest of a step, and
/// can go as boxes; the same on every rank.
bool goes_as_boxes(const FileContext& file, int variable);

}  // namespace thalweg::detail
