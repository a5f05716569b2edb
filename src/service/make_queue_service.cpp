// SPDX-License-Identifier: Apache-2.0
#include "service/make_queue_service.hpp"

#include <utility>

#include "base/log.hpp"
#include "service/background/background.hpp"
#include "service/queue/queue_service.hpp"
#include "service/servers/served_file.hpp"
#include "service/servers/server_roles.hpp"

namespace thalweg::detail {

namespace {

/// Connects to the servers; returns null if that fails.
/// @note Collective; the status is the same on every rank
std::unique_ptr<Publisher> publish_to_servers(FileContext& file, ServicePlan& plan,
                                              Status& status) {
    const std::size_t servers = file.session.port()->server_roles().servers().size();
    plan.options.writers = file.options.method == "serial" ? 1 : static_cast<int>(servers);
    plan.options.rate = 1.0 * file.options.bandwidth / plan.options.writers;
    plan.options.apart = true;
    return make_served_file(file.team, *file.session.port(), plan, file.session.spare_queue,
                            status);
}

/// Starts background writing; returns null if that fails. Where processes cannot share memory, the
/// file's service becomes inline. @note Collective; the status is the same on every rank
std::unique_ptr<Publisher> publish_to_threads(FileContext& file, const ServicePlan& plan,
                                              Target& target, Status& status) {
    Background* const background = file.session.background(status);
    if (!status.ok()) return nullptr;
    auto publisher = make_background_file(file.team, *background, plan, target.map, target.writers,
                                          *target.storage, file.session.spare_queue, status);
    if (status.code == TW_ENOMEM) {
        if (file.team.rank() == 0)
            log::warn("{}: service=background is not possible, using inline: {}", file.path,
                      status.text);
        file.figures.service = file.options.service = "inline";
        file.figures.why_service = status.text;
        target.storage->meet(file.team.world());
    }
    return publisher;
}

/// Records the size of the queue for the summary.
void note_queue(FileContext& file, std::int64_t room) {
    const std::int64_t asked = file.options.queue;
    file.figures.settings.push_back({"queue", asked < 0 ? "auto" : fmt::format("{}", asked),
                                     fmt::format("{}", room),
                                     asked < 0 ? "two steps, at most 'staging'" : ""});
}

}  // namespace

std::unique_ptr<Service> make_queue_service(FileContext& file, Target& target, Batch& batch,
                                            const Existing& existing, Status& status) {
    const QueuePlan queue = plan_queue(file);
    ServicePlan plan;
    const auto describe = [&]() -> Status {
        plan = service_plan(file, target, existing);
        return {};
    };
    status = alone(describe);
    if (!status.ok())
        status = failure(TW_ENOMEM,
                         "{}: out of memory for the description of what this rank holds (rank {})",
                         OfFile{file.path}, OfRank{file.team.rank()});
    if (status = file.team.agree(status); !status.ok()) return nullptr;
    plan.queue = queue.bytes;
    plan.queue_limit = queue.limit;
    plan.queue_grows = queue.grows;
    std::int64_t words[] = {queue.holds_step ? 0 : 1, -queue.bytes};
    file.team.all_reduce(words, Reduce::max);
    const bool holds_step = words[0] == 0;
    if (!holds_step && file.team.rank() == 0)
        log::info(
            "{}: a step exceeds the queue of {} bytes on some rank: variables are written in "
            "parts, and all ranks must put them in the same order",
            file.path, queue.bytes);
    std::unique_ptr<Publisher> publisher = file.options.service == "servers"
                                               ? publish_to_servers(file, plan, status)
                                               : publish_to_threads(file, plan, target, status);
    if (!status.ok()) return nullptr;
    file.figures.writers = publisher->writers();
    (void)alone([&]() -> Status {
        note_queue(file, publisher->unit_queue().room());
        return {};
    });
    std::unique_ptr<QueueService> service;
    status = file.team.agree(alone([&]() -> Status {
        service = std::make_unique<QueueService>(file, batch, target.order, std::move(publisher),
                                                 holds_step, -words[1]);
        return {};
    }));
    return status.ok() ? std::move(service) : nullptr;
}

}  // namespace thalweg::detail
