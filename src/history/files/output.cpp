// SPDX-License-Identifier: Apache-2.0
#include "history/files/output.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "definitions/definitions.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

Output::Output(FileContents contents)
    : FileContents(std::move(contents)), periods_(file_boundaries(stream, context.run)) {
    if (!stream.aggregate.empty()) context.paths.insert(path_of(stream.aggregate, {}));
}

std::int64_t Output::period_of(const Window& record) const {
    if (!periods_) return 0;
    // A window that is cut at the end of the run belongs to the period of the whole window.
    Window whole = record;
    if (rules.every == Every::window && !rules.instant)
        whole.end = rules.boundaries.at(record.number);
    return file_period(*periods_, whole, rules.begin(), stream.next_file);
}

std::string Output::path_of(const std::string& pattern, const Window& record) const {
    PathValues values = path_values(stream);
    values.calendar = context.run.calendar;
    if (stream.file_per_variable) {
        values.variable = variables.front()->name;
        values.op = op_name(variables.front()->statistic.op);
    }
    const std::int64_t period = period_of(record);
    values.begin = periods_ ? periods_->at(period - 1) : record.begin;
    values.end = periods_ ? periods_->at(period) : record.end;
    values.coarseness = file_unit(stream);
    return fill_path(pattern, values);
}

bool Output::full(const Window& record) const {
    if (timeless()) return true;
    if (stream.records > 0 && state_.records >= stream.records) return true;
    if (!periods_) return false;
    const Time end = periods_->at(state_.period);
    if (rules.every != Every::window) return record.end >= end && !rules.instant;
    const std::int64_t k = rules.boundaries.window(record.end, Edge::begin);
    return rules.boundaries.at(k) > end ||
           (stream.next_file && rules.instant && rules.boundaries.at(k) >= end);
}

Status Output::check_names() const {
    const Table& table = *context.table;
    const bool has_bounds = !timeless() && !rules.instant;
    std::set<std::string> names;
    if (!timeless()) names.insert(table.time);
    if (has_bounds) names.insert(table.bounds);
    const auto add = [&](const std::string& name, const Names& dims, const Part& part) -> Status {
        Status status = detail::check_name("a variable", name);
        if (!names.insert(name).second)
            status.text = "its files have another variable of this name";
        for (const std::string& dim : dims) {
            const auto at = std::ranges::find(part.dims, dim) - part.dims.begin();
            if ((!timeless() && dim == table.time) ||
                (has_bounds && dim == table.bounds_dim && part.shape[at] != 2))
                status.text = fmt::format("the history itself uses the dimension '{}'", dim);
        }
        if (status.text.empty()) return {};
        return failure(TW_ESETTING, "stream '{}': variable '{}': {}", stream.name, OfVariable{name},
                       status.text);
    };
    Status status;
    for (const auto& [c, dims, taken, data] : coordinates)
        keep_first(status, add(c->name, dims, taken->part));
    for (const Variable* variable : variables)
        if (variable->is_first())
            keep_first(status, add(variable->name, variable->dims(), variable->written().part));
    return status;
}

Status Output::prepare(const Window& record) {
    used_ = ++context.uses;
    const std::int64_t period = period_of(record);
    const bool other = state_.path.empty() || state_.period != period ||
                       (stream.records > 0 && state_.records >= stream.records);
    if (!other) return file_ != nullptr || !failed_.ok() ? failed_ : append();
    Status status = close(false);
    state_ = {path_of(stream.path, record), period, 0, state_.complete, state_.aggregated};
    if (!context.paths.insert(state_.path).second) {
        const std::string path = std::exchange(state_.path, {});
        keep_first(status, failure(TW_ESETTING,
                                   "stream '{}': '{}' has been written by this run: two "
                                   "files of the history have the same path",
                                   stream.name, path));
        return status;
    }
    keep_first(status, create());
    return status;
}

/// Creates a file, and puts the coordinates that it has.
/// @param aggregation  as for define_file()
Status Output::create(const std::string& path, const std::string& settings,
                      Aggregation* aggregation, tw_file& file) const {
    std::error_code ignored;  // tw_create reports it
    const auto folder = std::filesystem::path(path).parent_path();
    if (context.ranks->rank() == 0 && !folder.empty())
        std::filesystem::create_directories(folder, ignored);
    Checks check(*context.ranks);
    check(tw_create(context.ranks->session(), path.c_str(), settings.c_str(), &file));
    if (!check.ok()) return check.status;
    check(define_file(file, *this, path, aggregation));
    check(tw_enddef(file));
    if (!check.ok()) return check.status;
    for (const auto& [c, dims, taken, data] : coordinates)
        if (aggregation == nullptr || taken->part.replicated)
            check(tw_put(file, c->name.c_str(), c->type, data->data(), taken->elements));
    return check.status;
}

Status Output::create() {
    Status status = create(state_.path, context.settings + ";" + stream.settings, nullptr, file_);
    if (file_ != nullptr) ++context.opened;
    status = context.ranks->agree(status, 0, {});
    if (!status.ok()) {
        context.paths.erase(state_.path);
        state_.path.clear();
        keep_first(status, close(false));
    }
    return status;
}

Status Output::append() {
    const std::string settings = context.settings + ";" + stream.settings + ";mode=append";
    Checks check(*context.ranks);
    check(tw_open(context.ranks->session(), state_.path.c_str(), settings.c_str(), &file_));
    if (!check.ok()) return check.status;
    ++context.opened;
    tw_file_info info;
    check(tw_inq(file_, &info));
    if (check.ok() && !timeless() && info.records < state_.records)
        check(failure(TW_EFORMAT, "{}: the file has {} records, but the history has written {}",
                      state_.path, info.records, state_.records));
    if (check.ok()) check(define_file(file_, *this, state_.path));
    if (check.ok() && !timeless()) check(tw_set_record(file_, state_.records, TW_DROP_LATER));
    check(tw_enddef(file_));
    return check.status;
}

/// @note Collective
Status Output::aggregate() {
    const std::string path = path_of(stream.aggregate, {});
    Aggregation aggregation(*context.ranks, path, state_.aggregated);
    // In netCDF-4, other readers than netCDF-C do not find a scalar named as a dimension.
    const char* const settings = "publish=close;storage=auto;format=auto";
    tw_file file = nullptr;
    Status status = create(path, settings, &aggregation, file);
    if (status.ok()) status = aggregation.put(file);
    status = context.ranks->agree(status, 0, {});
    if (file != nullptr) keep_first(status, check(tw_close(&file)));
    return status;
}

Status Output::put(const Variable& variable, const void* values) {
    if (file_ == nullptr) return {};
    const tw_array array = tw_dense(variable.type, values, variable.written().elements);
    return check(tw_put_array(file_, variable.name.c_str(), array, TW_DEFERRED));
}

Status Output::end_record(const Window& window, const WindowPart& record) {
    if (file_ == nullptr) return {};
    Checks check(*context.ranks);
    if (!timeless()) {
        const Table& table = *context.table;
        const TimeUnits& units = table.time_units;
        const double time =
            units.value(rules.instant ? record.end : record.first.stamp(stream.stamp));
        const double bounds[2] = {units.value(record.first.begin), units.value(record.end)};
        check(tw_put(file_, table.time.c_str(), TW_DOUBLE, &time, 1));
        if (!rules.instant) check(tw_put(file_, table.bounds.c_str(), TW_DOUBLE, bounds, 2));
        const tw_status ended = tw_end_step(file_);
        values_wait_ |= ended != TW_OK;
        check(ended);
        ++state_.records;
    }
    if (record.last && full(window))
        check(close(false));
    else if (stream.sync > 0 && state_.records % stream.sync == 0)
        check(sync());
    return check.status;
}

Status Output::sync() { return file_ == nullptr ? failed_ : check(tw_sync(file_, 1)); }

Status Output::close(bool again) {
    Status status = failed_;
    if (file_ != nullptr) {
        status = check(tw_close(&file_));
        values_wait_ = false;
        --context.opened;
    }
    failed_ = again ? status : Status{};
    if (again) return status;
    const bool complete = status.ok() && !stream.aggregate.empty() && state_.records > 0;
    if (complete) state_.aggregated.push_back({state_.path, state_.records});
    state_ = {{}, 0, 0, state_.path.empty() ? state_.complete : state_.path, state_.aggregated};
    return complete ? aggregate() : status;
}

Status Output::resume(const OutputState& state) {
    state_ = state;
    if (!state_.complete.empty()) context.paths.insert(state_.complete);
    Status status;
    if (!state_.path.empty()) {
        context.paths.insert(state_.path);
        status = recover();
        if (status.ok()) status = append();
    }
    // The run that was killed may have completed more files, which are written again.
    if (status.ok() && !state_.aggregated.empty()) status = aggregate();
    return status;
}

/// Completes the file that a killed run left under its temporary name. A file with fewer records
/// than the history has written comes from another run, and is left alone.
Status Output::recover() {
    const std::string part = state_.path + ".part";
    std::int64_t found = 0;
    if (context.ranks->rank() == 0) {
        // If the file cannot be examined, opening it fails and reports why.
        std::error_code ignored;
        const bool complete = std::filesystem::exists(state_.path, ignored);
        found = std::filesystem::exists(part, ignored) ? 2 : complete ? 0 : 1;
    }
    Status status = context.ranks->agree({}, 0, {&found, 1});
    if (!status.ok() || found == 0) return status;
    if (found == 2) {
        tw_file file = nullptr;
        tw_file_info info{};
        if (tw_open(context.ranks->session(), part.c_str(), nullptr, &file) == TW_OK) {
            status = check(tw_inq(file, &info));
            keep_first(status, check(tw_close(&file)));
        }
        if (!status.ok() || info.records < state_.records) return status;
    }
    if (context.ranks->rank() == 0) {
        char text[1000];
        const tw_status code =
            tw_recover(state_.path.c_str(), TW_REPLACE_LONGER, text, sizeof text);
        if (code != TW_OK) status = {code, text};
    }
    return context.ranks->agree(status, 0, {});
}

OutputStream::OutputStream(FileContext& context, const StreamTable& table,
                           const ResolvedStream& resolved)
    : context_(context),
      table_(table),
      rules_(window_rules(*context.table, table, context.run, std::nullopt)),
      steps_(1) {
    set_splits(table, resolved.fields, rules_);
}

void OutputStream::make_outputs(const FindCoordinates& coordinates) {
    std::vector<Variable*> all;
    const auto make = [&] {
        outputs_.push_back(std::make_unique<Output>(
            FileContents{context_, table_, rules_, all, coordinates(all)}));
        all.clear();
    };
    for (const auto& variable : variables_) {
        const bool begins = variable->is_first() && !variable->term;
        if (table_.file_per_variable && begins && !all.empty()) make();
        all.push_back(variable.get());
    }
    if (!all.empty()) make();
}

void OutputStream::begin_at(Time time) {
    late_begin_ = time;
    if (rules_.begin() >= time) return;
    rules_.from = time;
    for (const auto& variable : variables_) variable->begin_at(time);
}

void OutputStream::change_windows(const WindowRules::Change& change) {
    rules_.change = change;
    for (const auto& variable : variables_) variable->rules.change = change;
}

Status OutputStream::plan_step(std::optional<Time> previous, Time now) {
    if (rules_.every == Every::once && previous == late_begin_) previous.reset();
    steps_.resize(1);
    Status status = take_step(rules_, previous, now, steps_.front());
    for (const auto& variable : variables_) {
        if (!variable->has_own_steps()) continue;
        steps_.emplace_back();
        keep_first(status, take_step(variable->rules, previous, now, steps_.back()));
    }
    if (!status.ok()) status.text = fmt::format("stream '{}': {}", table_.name, status.text);
    return status;
}

void OutputStream::begin_step() {
    auto own = steps_.begin() + 1;
    // A stream that waits for its stations has no files.
    for (const auto& variable : variables_) {
        const Step& step = variable->has_own_steps() ? *own++ : steps_.front();
        const bool waits = outputs_.empty();
        if (table_.timing.cycle)
            variable->samples.begin_step(
                table_.timing.cycle.in_bin(*rules_.inner, variable->bin, step), waits);
        else
            variable->samples.begin_step(step, waits);
    }
    const bool warns = step().crossed && !rules_.passes && !warned_;
    if (warns && context_.ranks->rank() == 0)
        detail::log::warn(
            "history: stream '{}': a step of the model crosses the boundary of a window; its "
            "samples {} to the window of its end",
            table_.name, rules_.splits ? "belong, except for means weighted by time," : "belong");
    warned_ = warned_ || warns;
}

std::vector<Variable*> variables_of(const Streams& streams) {
    std::vector<Variable*> all;
    for (const auto& stream : streams)
        for (const auto& variable : stream->variables()) all.push_back(variable.get());
    return all;
}

std::vector<Output*> outputs_of(const Streams& streams) {
    std::vector<Output*> all;
    for (const auto& stream : streams)
        for (const auto& output : stream->outputs()) all.push_back(output.get());
    return all;
}

}  // namespace thalweg::history
