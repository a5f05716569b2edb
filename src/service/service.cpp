// SPDX-License-Identifier: Apache-2.0
#include "service/service.hpp"

#include "base/clock.hpp"
#include "base/trace.hpp"

namespace thalweg::detail {

Status end_open_step(Service& service, FileContext& file, const Batch& batch, Agreed& agreed,
                     Status& misfit) {
    if (!batch.step_is_open(agreed)) return {};
    Stopwatch watch(file.figures.step);
    Span span("step");
    span.record(batch.record);
    misfit = service.end_step();
    // The first step also contains the fixed-size variables, so they are complete after it.
    agreed.put.assign(agreed.put.size(), 0);
    // One rank may learn of an error before the others, so agree that all stop.
    return file.keep(file.team.agree(misfit.code == TW_ERANGE ? Status{} : misfit));
}

}  // namespace thalweg::detail
