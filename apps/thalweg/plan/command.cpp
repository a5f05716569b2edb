// SPDX-License-Identifier: Apache-2.0
#include "plan/command.hpp"

#include <cstdio>
#include <optional>

#include "plan/report.hpp"
#include "progress.hpp"
#include "write_text.hpp"

namespace thalweg::app {

using namespace planning;

namespace {

int fail(const detail::Status& status) {
    fmt::print(stderr, "thalweg: plan: {}\n", status.text);
    return 1;
}

}  // namespace

int plan(const PlanOptions& options) {
    Run run;
    detail::Status status = read_run(options.description, options.calibration, run);
    if (!status.ok()) return fail(status);
    std::optional<Busy> busy(std::in_place, "planning");
    const Shares shares(run);
    const Plan made = make_plan(run, shares);
    busy.reset();
    if (!options.picture.empty()) status = write_text(options.picture, picture_of(run, made));
    if (!status.ok()) return fail(status);
    fmt::print("{}", options.json ? json_of(run, shares, made) : text_of(run, shares, made));
    return 0;
}

}  // namespace thalweg::app
