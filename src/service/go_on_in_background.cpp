// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "service/inline/inline_service.hpp"
#include "service/make_queue_service.hpp"
#include "service/queue/queue_plan.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a step fits into the queue on all ranks: otherwise tw_put would become collective.
bool can_go_on(FileContext& file, const InlineService& service) {
    std::int64_t can = service.is_at_rest() && plan_queue(file).holds_step ? 1 : 0;
    file.team.all_reduce({&can, 1}, Reduce::min);
    return can != 0;
}

}  // namespace

Status go_on_in_background(FileContext& file, Target& target, Batch& batch,
                           std::unique_ptr<Service>& service) {
    const std::string before = std::exchange(file.options.service, "background");
    auto& present = dynamic_cast<InlineService&>(*service);
    if (!can_go_on(file, present)) {
        file.options.service = before;
        return {};
    }
    Existing complete;
    complete.is = true;
    Status status = present.end_at_rest(complete.first);
    if (!status.ok()) return status;
    complete.kept = std::max(complete.first, file.existing.kept);
    std::unique_ptr<Service> next;
    Comm& world = file.team.world();
    if (status = target.storage->separate(world); status.ok())
        next = make_queue_service(file, target, batch, complete, status);
    if (!next) {
        target.storage->meet(world);
        file.options.service = before;
        return {};
    }
    service->add_figures(file.figures);
    service = std::move(next);
    return {};
}

}  // namespace thalweg::detail
