// SPDX-License-Identifier: Apache-2.0
#include "dataset/output_watch.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "base/log.hpp"
#include "choose/ask_cost_model.hpp"
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

void OutputWatch::note_step(double seconds, bool usual) {
    const double took = seconds - std::exchange(counted_.until, seconds);
    if (std::exchange(skips_, false) || !usual) return;
    ++counted_.steps;
    counted_.seconds += took;
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

bool OutputWatch::way_is_due() const {
    const std::int64_t steps = file_.figures.steps;
    return proposed_.kind >= 0 && file_.options.service == "inline" && steps >= 4 &&
           (steps & (steps - 1)) == 0;
}

bool OutputWatch::is_time_for_another_way(bool can, planning::Proposal& proposal) {
    note_steps();
    return ask_again(file_, proposed_, can, proposal);
}

void OutputWatch::note_way(const planning::Proposal& p, std::int64_t record) {
    FileFigures& f = file_.figures;
    proposed_ = p.what;
    skips_ = true;
    const FileOptions& options = file_.options;
    const std::string why =
        fmt::format("from record {} on: {}", options.wording.index(record), p.why);
    for (ChosenSetting& row : f.settings) {
        const std::string& now = row.name == "method" ? options.method : options.writers;
        if ((row.name == "method" || row.name == "writers") && row.value != now)
            row = {row.name, row.asked, now, why};
    }
    if (file_.team.rank() == 0)
        log::info("{}: method={} and writers={} {}", file_.path, options.method, options.writers,
                  why);
}

/// For the next proposal: what a step of this file has taken in the model's calls.
void OutputWatch::note_steps() const {
    if (file_.options.service == "inline" && counted_.steps > 0 && file_.session.last_proposal)
        file_.session.last_proposal->note(proposed_, counted_.seconds / counted_.steps);
}

void OutputWatch::note_end(const FileFigures& figures, bool good) {
    // Of a long file, the last few steps tell less than what was noted before.
    constexpr std::int64_t few = 3;
    if (good && (file_.figures.steps <= few || counted_.steps >= few)) note_steps();
    file_.session.outputs += output_times(figures);
}

}  // namespace thalweg::detail
