// SPDX-License-Identifier: Apache-2.0
#include "history/files/output.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "definitions/definitions.hpp"
#include "index/types.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

static void make_folder(const Ranks& ranks, const std::string& path) {
    std::error_code ignored;  // ignore errors here: tw_create reports them
    const auto folder = std::filesystem::path(path).parent_path();
    if (ranks.rank() == 0 && !folder.empty()) std::filesystem::create_directories(folder, ignored);
}

Output::Output(FileContext& context, const StreamTable& stream, const WindowRules& rules,
               std::vector<Variable*> variables, std::vector<WrittenCoordinate> coordinates)
    : context_(context),
      stream_(stream),
      rules_(rules),
      variables_(std::move(variables)),
      coordinates_(std::move(coordinates)),
      periods_(file_boundaries(stream, context.run)) {
    if (!stream.aggregate.empty()) context.paths.insert(path_of(stream.aggregate, {}));
}

std::int64_t Output::period_of(const Window& record) const {
    if (!periods_) return 0;
    // A window that is cut at the end of the run belongs to the period of the whole window.
    Window whole = record;
    if (rules_.every == Every::window && !rules_.instant)
        whole.end = rules_.boundaries.at(record.number);
    return file_period(*periods_, whole, rules_.begin(), stream_.next_file);
}

std::string Output::path_of(const std::string& pattern, const Window& record) const {
    PathValues values = path_values(stream_);
    values.calendar = context_.run.calendar;
    if (stream_.file_per_variable) {
        values.variable = variables_.front()->name();
        values.op = op_name(variables_.front()->about().statistic.op);
    }
    const std::int64_t period = period_of(record);
    values.begin = periods_ ? periods_->at(period - 1) : record.begin;
    values.end = periods_ ? periods_->at(period) : record.end;
    values.coarseness = file_unit(stream_);
    return fill_path(pattern, values);
}

/// Tests if this record is the last one of its file.
bool Output::full(const Window& record) const {
    if (timeless()) return true;
    if (stream_.records > 0 && state_.records >= stream_.records) return true;
    if (!periods_) return false;
    const Time end = periods_->at(state_.period);
    if (rules_.every != Every::window) return record.end >= end && !rules_.instant;
    const std::int64_t k = rules_.boundaries.window(record.end, Edge::begin);
    return rules_.boundaries.at(k) > end ||
           (stream_.next_file && rules_.instant && rules_.boundaries.at(k) >= end);
}

Status Output::check_names() const {
    const Table& table = *context_.table;
    const bool has_bounds = !timeless() && !rules_.instant;
    const std::string settings = context_.settings + ";" + stream_.settings;
    const bool lacks_text = context_.ranks->setting(settings, "format") == "zarr";
    std::set<std::string> names;
    if (!timeless()) names.insert(table.time);
    if (has_bounds) names.insert(table.bounds);
    const auto add = [&](const std::string& name, tw_type type,
                         const std::vector<std::string>& dims, const Part& part) -> Status {
        Status status = detail::check_name("a variable", name);
        if (type == TW_CHAR && lacks_text) status.text = "it is text, which format zarr lacks";
        if (!names.insert(name).second)
            status.text = "its files have another variable of this name";
        for (const std::string& dim : dims) {
            const auto at = std::ranges::find(part.dims, dim) - part.dims.begin();
            if ((!timeless() && dim == table.time) ||
                (has_bounds && dim == table.bounds_dim && part.shape[at] != 2))
                status.text = fmt::format("the history itself uses the dimension '{}'", dim);
        }
        if (status.text.empty()) return {};
        return detail::failure(TW_ESETTING, "stream '{}': variable '{}': {}", stream_.name,
                               OfVariable{name}, status.text);
    };
    Status status;
    for (const auto& [c, dims, taken, data] : coordinates_)
        keep_first(status, add(c->name, c->type, dims, taken->chosen.part));
    for (const Variable* variable : variables_)
        if (variable->is_first())
            keep_first(status, add(variable->name(), variable->about().type, variable->dims(),
                                   variable->written().chosen.part));
    return status;
}

Status Output::prepare(const Window& record) {
    used_ = ++context_.uses;
    const std::int64_t period = period_of(record);
    const bool other = state_.path.empty() || state_.period != period ||
                       (stream_.records > 0 && state_.records >= stream_.records);
    if (!other) return file_ != nullptr || !failed_.ok() ? failed_ : append();
    Status status = close(false);
    state_ = {path_of(stream_.path, record), period, 0, state_.complete, state_.aggregated};
    if (!context_.paths.insert(state_.path).second) {
        const std::string path = std::exchange(state_.path, {});
        keep_first(status, detail::failure(TW_ESETTING,
                                           "stream '{}': '{}' has been written by this run: two "
                                           "files of the history have the same path",
                                           stream_.name, path));
        return status;
    }
    keep_first(status, create());
    return status;
}

Status Output::create() {
    make_folder(*context_.ranks, state_.path);
    const std::string settings = context_.settings + ";" + stream_.settings;
    Status status =
        check(tw_create(context_.ranks->session(), state_.path.c_str(), settings.c_str(), &file_));
    if (status.ok()) {
        ++context_.opened;
        status =
            define_file(file_, context_, stream_, rules_, variables_, coordinates_, state_.path);
        keep_first(status, check(tw_enddef(file_)));
        if (status.ok()) status = put_coordinates(file_, false);
    }
    status = context_.ranks->agree(status, 0, {});
    if (!status.ok()) {
        context_.paths.erase(state_.path);
        state_.path.clear();
        keep_first(status, close(false));
    }
    return status;
}

Status Output::append() {
    const std::string settings = context_.settings + ";" + stream_.settings + ";mode=append";
    Status status =
        check(tw_open(context_.ranks->session(), state_.path.c_str(), settings.c_str(), &file_));
    if (!status.ok()) return status;
    ++context_.opened;
    tw_file_info info;
    status = check(tw_inq(file_, &info));
    if (status.ok() && !timeless() && info.records < state_.records)
        status = detail::failure(TW_EFORMAT,
                                 "{}: the file has {} records, but the history has written {}",
                                 state_.path, info.records, state_.records);
    if (status.ok())
        status =
            define_file(file_, context_, stream_, rules_, variables_, coordinates_, state_.path);
    if (status.ok() && !timeless())
        status = check(tw_set_record(file_, state_.records, TW_DROP_LATER));
    keep_first(status, check(tw_enddef(file_)));
    return status;
}

/// @param small  put only those of which every rank has all elements
Status Output::put_coordinates(tw_file file, bool small) {
    Status status;
    for (const auto& [c, dims, taken, data] : coordinates_)
        if (!small || taken->chosen.part.replicated)
            keep_first(status, check(tw_put(file, c->name.c_str(), c->type, data->data(),
                                            taken->chosen.elements)));
    return status;
}

/// Writes the aggregation file anew. @note Collective
Status Output::aggregate() {
    const std::string path = path_of(stream_.aggregate, {});
    make_folder(*context_.ranks, path);
    Aggregation aggregation(*context_.ranks, path, state_.aggregated);
    // In netCDF-4, other readers than netCDF-C do not find a scalar named as a dimension.
    const char* const settings = "publish=close;storage=auto;format=auto";
    tw_file file = nullptr;
    Status status = check(tw_create(context_.ranks->session(), path.c_str(), settings, &file));
    if (!status.ok()) return status;
    status =
        define_file(file, context_, stream_, rules_, variables_, coordinates_, path, &aggregation);
    keep_first(status, check(tw_enddef(file)));
    if (status.ok()) status = put_coordinates(file, true);
    if (status.ok()) status = aggregation.put(file);
    status = context_.ranks->agree(status, 0, {});
    keep_first(status, check(tw_close(&file)));
    return status;
}

Status Output::put(const Variable& variable, const void* values) {
    if (file_ == nullptr) return {};
    const tw_array array =
        tw_dense(variable.about().type, values, variable.written().chosen.elements);
    return check(tw_put_array(file_, variable.name().c_str(), array, TW_DEFERRED));
}

Status Output::end_record(const Window& window, const WindowPart& record) {
    if (file_ == nullptr) return {};
    Status status;
    if (!timeless()) {
        const TimeUnits& units = context_.table->time_units;
        const Time stamp = rules_.instant ? record.end : record.first.stamp(stream_.stamp);
        const double time = units.value(stamp);
        const double bounds[2] = {units.value(record.first.begin), units.value(record.end)};
        keep_first(status, check(tw_put(file_, context_.table->time.c_str(), TW_DOUBLE, &time, 1)));
        if (!rules_.instant)
            keep_first(status,
                       check(tw_put(file_, context_.table->bounds.c_str(), TW_DOUBLE, bounds, 2)));
        const Status ended = check(tw_end_step(file_));
        values_wait_ |= !ended.ok();
        keep_first(status, ended);
        ++state_.records;
    }
    if (record.last && full(window))
        keep_first(status, close(false));
    else if (stream_.sync > 0 && state_.records % stream_.sync == 0)
        keep_first(status, sync());
    return status;
}

Status Output::sync() { return file_ == nullptr ? failed_ : check(tw_sync(file_, 1)); }

Status Output::close(bool again) {
    Status status = failed_;
    if (file_ != nullptr) {
        status = check(tw_close(&file_));
        values_wait_ = false;
        --context_.opened;
    }
    failed_ = again ? status : Status{};
    if (again) return status;
    const bool complete = status.ok() && !stream_.aggregate.empty() && state_.records > 0;
    if (complete) state_.aggregated.push_back({state_.path, state_.records});
    state_ = {{}, 0, 0, state_.path.empty() ? state_.complete : state_.path, state_.aggregated};
    return complete ? aggregate() : status;
}

Status Output::resume(const OutputState& state) {
    state_ = state;
    if (!state_.complete.empty()) context_.paths.insert(state_.complete);
    Status status;
    if (!state_.path.empty()) {
        context_.paths.insert(state_.path);
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
    if (context_.ranks->rank() == 0) {
        // If the file cannot be examined, opening it fails and reports why.
        std::error_code ignored;
        const bool complete = std::filesystem::exists(state_.path, ignored);
        found = std::filesystem::exists(part, ignored) ? 2 : complete ? 0 : 1;
    }
    Status status = context_.ranks->agree({}, 0, {&found, 1});
    if (!status.ok() || found == 0) return status;
    if (found == 2) {
        tw_file file = nullptr;
        tw_file_info info{};
        if (tw_open(context_.ranks->session(), part.c_str(), nullptr, &file) == TW_OK) {
            status = check(tw_inq(file, &info));
            keep_first(status, check(tw_close(&file)));
        }
        if (!status.ok() || info.records < state_.records) return status;
    }
    if (context_.ranks->rank() == 0) {
        char text[1000];
        const tw_status code =
            tw_recover(state_.path.c_str(), TW_REPLACE_LONGER, text, sizeof text);
        if (code != TW_OK) status = {code, text};
    }
    return context_.ranks->agree(status, 0, {});
}

}  // namespace thalweg::history
