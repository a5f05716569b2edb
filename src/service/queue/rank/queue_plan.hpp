// Plans the size of a rank's queue for a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/file_context.hpp"
#include "service/queue/rank/unit_queue.hpp"
#include "service/queue/service_plan.hpp"

namespace thalweg::detail {

/// Plans the queue for this rank's holdings. Local; depends only on the file's definitions and
/// options, and on the number of nodes.
QueuePlan plan_queue(const FileContext& file);

/// Returns the bytes that describe a box in a unit part.
std::int64_t description_of(const HeldBox& held);

/// Returns the most bytes that boxes of a variable need in a queue, however they are cut.
std::int64_t room_for_boxes(const Variable& variable, std::span<const HeldBox> boxes,
                            std::int64_t capacity);

/// Tests if a replicated variable does not fit into the queue with the rest of a step, but can be
/// put as boxes. The result is the same on every rank.
bool goes_as_boxes(const FileContext& file, int variable);

}  // namespace thalweg::detail
