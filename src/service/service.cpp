// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/clock.hpp"
#include "base/reserve.hpp"
#include "base/trace.hpp"
#include "service/inline/inline_service.hpp"
#include "service/make_queue_service.hpp"

namespace thalweg::detail {

std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status) {
    Stopwatch watch(file.figures.plan);
    Status mine = std::exchange(status, {});
    if (file.options.service != "inline") {
        auto service = make_queue_service(file, target, batch, file.existing, status);
        if (file.options.service != "inline") return service;
    }
    auto service =
        with_reserve([&] { return std::make_unique<InlineService>(file, target, batch); });
    status = service->begin(std::move(mine));
    return status.ok() ? std::move(service) : nullptr;
}

Status end_open_step(Service& service, FileContext& file, const Batch& batch, Agreed& agreed,
                     Status& misfit) {
    if (!batch.step_is_open(agreed)) return {};
    Stopwatch watch(file.figures.step);
    Span span("step");
    span.record(batch.record);
    misfit = service.end_step(false);
    // The first step also contains the fixed-size variables, so they are complete after it.
    agreed.put.assign(agreed.put.size(), 0);
    // One rank may learn of an error before the others, so agree that all stop.
    return file.keep(file.team.agree(misfit.code == TW_ERANGE ? Status{} : misfit));
}

}  // namespace thalweg::detail
