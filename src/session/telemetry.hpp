// The telemetry of a session: its watchdog, its trace, and figures for reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "telemetry/telemetry.hpp"
#include "telemetry/trace_file.hpp"
#include "telemetry/watchdog.hpp"

namespace thalweg::detail {

struct SessionTelemetry {
    std::unique_ptr<Watchdog> watchdog;  ///< null if the watchdog is off
    std::unique_ptr<Trace> trace;        ///< null if tracing is off
    AllFigures finished;                 ///< figures of the files that are closed
    double begun = 0;                    ///< time when tw_init returned
    double entered = 0;                  ///< time at which the present call began
    double in_calls = 0;  ///< seconds spent in calls since `begun`, without the present call
    /// Seconds since `begun` of histories: of their own work, which is not in `in_calls`, and of
    /// their agreements, which are.
    double history_work = 0, history_calls = 0;
    /// Name of this run in manifests: host and process of this rank, and the time of tw_init.
    std::string run;
    /// Absolute paths of the reports that tw_finalize writes, on rank 0; empty: no report.
    std::string summary_path, trace_path;
    std::string summary;  ///< text that tw_summary has returned
};

}  // namespace thalweg::detail
