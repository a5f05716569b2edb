// SPDX-License-Identifier: Apache-2.0
#include "dataset/output_watch.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace thalweg::detail {

/// Returns this rank's measurements of this file's outputs.
OutputTimes OutputWatch::output_times(const FileFigures& f) const {
    OutputTimes times;
    times.outputs = f.steps;
    times.pack = std::max(f.put, f.remap);
    times.write = f.write;
    times.computing = file_.session.computing() - computing_;
    return times;
}

bool OutputWatch::is_due() const {
    const std::int64_t steps = file_.figures.steps, after = file_.options.background_after;
    if (!may_change_) return false;
    return after > 0 ? steps >= after : steps >= 2 && (steps & (steps - 1)) == 0;
}

bool OutputWatch::is_time_to_change(const FileFigures& figures, int threads, OutputTimes& times) {
    bool is = true;
    if (file_.options.background_after <= 0) {
        times = file_.session.outputs;
        times = agree_on(file_.team, times += output_times(figures));
        is = pays_in_background(times) && threads <= free_processors_;
    }
    may_change_ = !is;
    return is;
}

void OutputWatch::note_service(const OutputTimes& times, std::int64_t record) {
    FileFigures& f = file_.figures;
    const bool changed = file_.options.service == "background";
    f.service = file_.options.service;
    f.why_service =
        !changed ? "its steps do not fit into the queue, or boxes wait for other records"
        : times.outputs > 0
            ? in_words(times)
            : fmt::format("in the background after {} steps", file_.options.background_after);
    for (ChosenSetting& row : f.settings)
        if (row.name == "service") row = {row.name, row.asked, f.service, f.why_service};
    if (file_.team.rank() == 0)
        log::info("{}: service {} from record {} on: {}", file_.path, f.service,
                  file_.options.wording.index(record), f.why_service);
}

void OutputWatch::note_end(const FileFigures& figures) {
    file_.session.outputs += output_times(figures);
}

}  // namespace thalweg::detail
