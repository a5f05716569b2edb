// SPDX-License-Identifier: Apache-2.0
#include "service/service.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "service/background/background.hpp"
#include "service/inline/inline_service.hpp"
#include "service/node_copies.hpp"
#include "service/queue/rank/queue_service.hpp"
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
    return make_served_file(file.team, *file.session.port(), plan, file.session.spare_queues,
                            status);
}

/// Makes the file's service inline, because the one of its settings is not possible.
void use_inline(FileContext& file, const std::string& why) {
    if (file.team.rank() == 0)
        log::warn("{}: service={} is not possible, using inline: {}", file.path,
                  file.options.service, why);
    file.figures.service = file.options.service = "inline";
    file.figures.why_service = why;
}

/// Starts background writing; returns null if that fails. Where processes cannot share memory, the
/// file's service becomes inline. @note Collective; the status is the same on every rank
std::unique_ptr<Publisher> publish_to_threads(FileContext& file, const ServicePlan& plan,
                                              Target& target, Status& status) {
    Background* const background = file.session.background(status);
    if (!status.ok()) return nullptr;
    auto publisher = make_background_file(file.team, *background, plan, target.map, target.writers,
                                          *target.storage, file.session.spare_queues, status);
    if (status.code == TW_ENOMEM) use_inline(file, status.text);
    return publisher;
}

/// Records the size of the queue for the summary.
void note_queue(FileContext& file, std::int64_t room) {
    const std::int64_t asked = file.options.queue;
    file.figures.settings.push_back({"queue", asked < 0 ? "auto" : fmt::format("{}", asked),
                                     fmt::format("{}", room),
                                     asked < 0 ? "two steps, at most 'staging'" : ""});
}

/// Returns the description of a file for the writers.
ServicePlan service_plan(const FileContext& file, const Target& target) {
    ServicePlan plan;
    plan.path = file.path;
    plan.data_path = file.data_path;
    plan.serial = file.serial;
    plan.definitions = &file.definitions;
    plan.whole = are_whole(file.holdings);
    plan.boxes = std::make_shared<PackedBoxes>(file.holdings);
    plan.layout = target.layout;
    plan.storage = file.options.storage;
    plan.queue = plan_queue(file);
    if (file.options.piece > 0) plan.piece = file.options.piece;
    plan.options = file.storage_options();
    if (file.existing.is) plan.map = target.map;
    // Servers, and writers of other nodes, cannot read this node's memory.
    if (file.copies && file.options.service == "background" && file.team.topology().nodes == 1)
        plan.copies = file.copies->memory();
    return plan;
}

/// Makes the service background or servers. The result is null, and the file's service inline, if
/// processes cannot share memory (background), or if a step exceeds the queue of background writers
/// on several nodes, which take only whole steps.
/// @note Collective; the status is the same on every rank
std::unique_ptr<Service> make_queue_service(FileContext& file, Target& target, Batch& batch,
                                            Status& status) {
    ServicePlan plan = service_plan(file, target);
    std::int64_t exceeds = plan.queue.holds_step ? 0 : 1;
    file.team.all_reduce({&exceeds, 1}, Reduce::max);
    if (exceeds != 0 && file.options.service == "background" && file.team.topology().nodes > 1) {
        use_inline(file, "a step exceeds the queue of some rank");
        return nullptr;
    }
    // Such a step must also fill what no rank puts, which boxes do not. Its queue was made larger,
    // but a message between nodes has a limit.
    if (exceeds != 0 && plan.queue.replaces) {
        status = failure(TW_ENOMEM,
                         "{}: a step that replaces values exceeds the largest queue, of {} bytes, "
                         "on some rank: use service=inline",
                         OfFile{file.path}, plan.queue.bytes);
        return nullptr;
    }
    if (exceeds != 0 && file.team.rank() == 0)
        log::info("{}: a step exceeds the queue of {} bytes on some rank: it is written in parts",
                  file.path, plan.queue.bytes);
    std::unique_ptr<Publisher> publisher = file.options.service == "servers"
                                               ? publish_to_servers(file, plan, status)
                                               : publish_to_threads(file, plan, target, status);
    if (!status.ok()) return nullptr;
    file.figures.writers = publisher->writers();
    note_queue(file, publisher->unit_queue().memory().room());
    return std::make_unique<QueueService>(file, batch, target.order, std::move(publisher),
                                          exceeds == 0);
}

}  // namespace

std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status) {
    Stopwatch watch(file.figures.times[FileTimes::plan]);
    Status mine = std::exchange(status, {});
    if (file.options.service != "inline") {
        auto service = make_queue_service(file, target, batch, status);
        if (file.options.service != "inline") return service;
    }
    auto service = std::make_unique<InlineService>(file, target, batch);
    status = service->begin(std::move(mine));
    return status.ok() ? std::move(service) : nullptr;
}

}  // namespace thalweg::detail
