// SPDX-License-Identifier: Apache-2.0
#include "dataset/output_watch.hpp"

#include <array>
#include <cmath>

#include "comm/log.hpp"
#include "plan/last_proposal.hpp"

namespace thalweg::detail {

OutputTimes agree_on(Team& team, const OutputTimes& mine) {
    constexpr double ns = 1e9;
    std::array<std::int64_t, 4> words{mine.outputs, std::llround(mine.pack * ns),
                                      std::llround(mine.write * ns),
                                      -std::llround(mine.computing * ns)};
    team.all_reduce(words, Reduce::max);
    return {words[0], words[1] / ns, words[2] / ns, -words[3] / ns};
}

/// What this rank knows of this file's outputs.
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

bool OutputWatch::is_time_to_change(const FileFigures& figures, OutputTimes& times) {
    bool is = true;
    if (file_.options.background_after <= 0) {
        times = file_.session.outputs;
        times = agree_on(file_.team, times += output_times(figures));
        is = pays_in_background(times);
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

/// For the next proposal: what a step of this file has taken in the model's calls.
void OutputWatch::note_steps(const FileFigures& f) const {
    if (file_.options.service != "inline") return;
    // The first step of a session meets memory that nobody has touched before.
    const bool first = file_.session.outputs.outputs == 0;
    const std::int64_t steps = f.steps - (first ? 1 : 0);
    const double seconds = f.put + f.step - (first ? first_step_ : 0);
    if (steps > 0 && file_.session.last_proposal)
        file_.session.last_proposal->note(proposed_, seconds / steps);
}

void OutputWatch::note_end(const FileFigures& figures, bool good) {
    if (good) note_steps(figures);
    file_.session.outputs += output_times(figures);
}

}  // namespace thalweg::detail
