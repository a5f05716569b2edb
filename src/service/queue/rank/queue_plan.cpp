// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/queue_plan.hpp"

#include <algorithm>

#include "exchange/pack/dense.hpp"
#include "service/queue/rank/unit_queue.hpp"

namespace thalweg::detail {

namespace {

std::int64_t queued_bytes(const FileContext& file, int variable) {
    return QueueMemory::rounded(file.holdings[variable]->elements *
                                file.variable(variable).element());
}

/// Tests if steps replace records of an existing file. Then they cannot be put as boxes, which
/// overwrite only the elements that they cover: a step also fills elements that no rank puts.
bool replaces_records(const FileContext& file) { return file.existing.first < file.existing.kept; }

}  // namespace

QueuePlan plan_queue(const FileContext& file) {
    const FileOptions& options = file.options;
    const int n = file.definitions.variables.size();
    const std::int64_t descriptor = 8 * (17 + n / 16 + std::int64_t{2} * n);
    std::int64_t total = QueueMemory::rounded(descriptor), largest = total;
    for (int i = 0; i < n; ++i) {
        if (goes_as_boxes(file, i)) continue;
        total += queued_bytes(file, i);
        largest = std::max(largest, queued_bytes(file, i));
    }
    const int nodes = file.team.topology().nodes;
    const auto rounded = [&](std::int64_t queue) {
        const std::int64_t least = options.queue >= 0 ? 4096 : 256 << 10;
        // A rank sends its data of a unit to another node as one message, whose size is limited.
        if (nodes > 1) queue = std::min<std::int64_t>(queue, 1 << 30);
        // The queue must hold a descriptor, which cannot be divided.
        return QueueMemory::rounded(std::max({queue, least, 8 * descriptor}));
    };
    // Without decompositions, any rank may put anything (tw_put_box, tw_put_record), up to
    // `staging` bytes. If ranks publish together, the queue must hold all boxes of a step, but it
    // accepts a new unit only while those that wait take less than two steps.
    const bool together = options.service == "background" && nodes > 1;
    const std::int64_t steps = std::min(2 * total, options.staging);
    QueuePlan plan;
    plan.grows = (together && options.queue < 0) ||
                 std::all_of(file.holdings.begin(), file.holdings.end(), [](const auto& holding) {
                     return holding->decomposition->replicated;
                 });
    plan.bytes = rounded(options.queue >= 0 ? options.queue : plan.grows ? options.staging : steps);
    if (together) plan.limit = std::min(plan.bytes, rounded(steps));
    const bool replaces = replaces_records(file);
    if (replaces) plan.bytes = std::max(plan.bytes, rounded(total + largest));
    plan.holds_step = replaces || 2 * total <= plan.bytes || total + largest <= plan.bytes;
    return plan;
}

std::int64_t description_of(const HeldBox& held) {
    // A list takes at most three words for each run.
    const std::int64_t list = held.list ? 8 + 3 * std::ssize(held.list->list->runs) : 0;
    return 8 * (6 + 2 * held.box.nd + list);
}

std::int64_t room_for_boxes(const Variable& v, std::span<const HeldBox> held,
                            std::int64_t capacity) {
    std::int64_t needed = 0;
    for (const HeldBox& h : held) {
        const std::int64_t bytes = elements_of(h) * v.element() + description_of(h);
        // Each piece uses at least an eighth of the capacity.
        const std::int64_t pieces = 1 + 8 * bytes / capacity;
        needed += bytes + pieces * (QueueMemory::rounded(1) + 8 * (14 + 2 * h.box.nd));
    }
    return needed;
}

bool goes_as_boxes(const FileContext& file, int variable) {
    const Variable& v = file.variable(variable);
    const FileOptions& options = file.options;
    // If ranks publish together, all boxes must fit into the queue.
    const bool can = options.service == "servers" ||
                     (options.service == "background" && file.team.topology().nodes == 1);
    const std::int64_t queue = options.queue >= 0 ? options.queue : options.staging;
    return can && !replaces_records(file) && file.holdings[variable]->decomposition->replicated &&
           v.elements() * v.element() > std::min(queue, options.staging) / 8;
}

}  // namespace thalweg::detail
