// SPDX-License-Identifier: Apache-2.0
#include "plan/command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "plan/report.hpp"

namespace thalweg::app {

using namespace planning;

int plan(const PlanOptions& options) {
    Run run;
    const detail::Status status = read_run(options.description, options.calibration, run);
    if (!status.ok()) {
        fmt::print(stderr, "thalweg: plan: {}\n", status.text);
        return 1;
    }
    const Shares shares(run);
    const Plan made = make_plan(run, shares);
    if (!options.picture.empty()) {
        errno = 0;
        std::ofstream out(options.picture);
        out << picture_of(run, made) << std::flush;
        if (!out) {
            fmt::print(stderr, "thalweg: plan: cannot write {}: {}\n", options.picture,
                       std::strerror(errno));
            return 1;
        }
    }
    fmt::print("{}", options.json ? json_of(run, shares, made) : text_of(run, shares, made));
    return 0;
}

}  // namespace thalweg::app
