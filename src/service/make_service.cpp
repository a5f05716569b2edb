// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "service/inline/inline_service.hpp"
#include "service/make_queue_service.hpp"

namespace thalweg::detail {

std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status) {
    Stopwatch watch(file.figures.plan);
    if (file.options.service != "inline") {
        auto service = make_queue_service(file, target, batch, file.existing, status);
        if (file.options.service != "inline") return service;
    }
    std::unique_ptr<InlineService> service;
    status = file.team.agree(alone([&]() -> Status {
        service = std::make_unique<InlineService>(file, target, batch);
        return {};
    }));
    if (status.ok()) status = service->begin();
    return status.ok() ? std::move(service) : nullptr;
}

}  // namespace thalweg::detail
