// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/clock.hpp"
#include "base/reserve.hpp"
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

}  // namespace thalweg::detail
