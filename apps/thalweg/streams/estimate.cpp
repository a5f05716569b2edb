// SPDX-License-Identifier: Apache-2.0
#include "streams/estimate.hpp"

#include <algorithm>

#include "history/configuration/table.hpp"
#include "history/statistics/accumulator.hpp"

namespace thalweg::app {

using namespace history;

namespace {

/// Counts the elements of a field that a stream takes.
/// @param without  dimensions that do not count
/// @param at_most becomes true if the stream may take fewer
std::int64_t elements_of(const Table& table, const StreamTable& stream, const DeclaredField& field,
                         const Names& without, bool& at_most) {
    std::int64_t elements = 1;
    const auto region = table.regions.find(stream.region);
    for (std::size_t i = 0; i < field.dims.size(); ++i) {
        if (has(without, field.dims[i])) continue;
        std::int64_t length = field.shape[i];
        if (stream.levels && stream.levels->dim == field.dims[i]) {
            const Levels& levels = *stream.levels;
            const std::size_t chosen = std::max(levels.index.size(), levels.nearest.size());
            at_most = at_most || chosen == 0;
            if (chosen > 0) length = std::min(length, static_cast<std::int64_t>(chosen));
        }
        if (region != table.regions.end())
            for (const IndexRange& range : region->second.index)
                if (range.dim == field.dims[i]) length = range.last - range.first + 1;
        elements *= length;
    }
    if (region != table.regions.end() && region->second.index.empty()) at_most = true;
    return elements;
}

/// Counts the files to which records are written.
class Files {
public:
    Files(const StreamTable& stream, const WindowRules& rules, const RunTimes& run)
        : stream_(stream), rules_(rules), run_(run), periods_(file_boundaries(stream, run)) {}

    void add(const Window& record, StreamEstimate& found) {
        const std::int64_t file =
            periods_ ? file_period(*periods_, record, rules_.begin(), stream_.next_file)
            : stream_.records > 0 ? found.records / stream_.records
                                  : 0;
        if (found.records == 0 || file != file_) {
            file_ = file;
            ++found.files;
            PathValues values = path_values(stream_);
            values.variable = "*";
            values.calendar = run_.calendar;
            values.begin = periods_ ? periods_->at(file - 1) : record.begin;
            values.end = periods_ ? periods_->at(file) : record.end;
            values.coarseness = file_unit(stream_);
            found.last_file = fill_path(stream_.path, values);
            if (found.records == 0) found.first_file = found.last_file;
        }
        const auto all = [](int) { return true; };
        found.records += std::ssize(stream_.timing.cycle.parts(run_.calendar, record, all));
    }

private:
    const StreamTable& stream_;
    const WindowRules& rules_;
    const RunTimes& run_;
    std::optional<Boundaries> periods_;
    std::int64_t file_ = 0;
};

}  // namespace

detail::Status estimate(const Table& table, const ResolvedStream& resolved, const HistoryRun& run,
                        StreamEstimate& found) {
    const StreamTable& stream = table.streams[static_cast<std::size_t>(resolved.table)];
    found = {};
    for (const StreamField& field : resolved.fields) {
        const DeclaredField& declared = run.fields[static_cast<std::size_t>(field.declared)];
        bool part = false;
        const std::int64_t elements = elements_of(table, stream, declared, {}, part);
        std::int64_t results = elements_of(table, stream, declared, field.reduced, found.at_most);
        if (!stream.reduce.by.empty()) {  // the number of regions is not known
            results = elements;
            found.at_most = true;
        }
        // A pyramid on HEALPix grids replaces the last dimension.
        if (stream.reduce.zoom >= 0 && stream.reduce.map.empty() && elements > 0 &&
            !declared.shape.empty())
            results = (results / declared.shape.back() * 12) << 2 * stream.reduce.zoom;
        found.record_bytes += results * detail::size_of(field.type);
        if (stream.op != Op::instant && stream.op != Op::once)
            found.memory +=
                stream.timing.cycle.bins(run.times.calendar) *
                Accumulator::bytes(field.statistic, field.reduces_samples ? results : elements);
    }
    WindowRules rules = window_rules(table, stream, run.times, std::nullopt);
    found.at_most = found.at_most || (stream.timing.cycle && rules.filters());
    set_splits(stream, resolved.fields, rules);
    Files files(stream, rules, run.times);
    std::optional<Time> previous;
    for (Time now = run.times.start; now <= run.end; now += run.times.step) {
        Step step;
        if (Status status = take_step(rules, previous, now, step); !status.ok()) return status;
        for (const StepPart& part : step.before)
            if (part.ends) files.add(part.window, found);
        if (step.ends) files.add(step.window, found);
        previous = now;
    }
    std::optional<Window> inner;
    const auto open = open_window(rules, *previous, inner);
    if (open && (stream.write_open || stream.every == Every::run)) files.add(*open, found);
    if (stream.file_per_variable)
        found.files *= std::ranges::count(resolved.fields, false, &StreamField::term);
    found.bytes = found.records * found.record_bytes;
    return {};
}

}  // namespace thalweg::app
