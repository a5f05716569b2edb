// The state of a history in restarts: numbers as one attribute, sums as variables.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "history/history.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

using detail::failure;
using nlohmann::json;

namespace {

constexpr const char* attribute_name = "thalweg_history";

std::string array_name(const StreamTable& stream, const Variable& variable,
                       const StateArray& array) {
    return "history_" + stream.name + "_" + variable.name() + "_" + array.name;
}

/// Renames the dimensions of a part by place and length, so that they are no dimensions of the
/// model's.
Part renamed(const Part& part) {
    Part result = part;
    for (int d = 0; d < part.nd(); ++d)
        result.dims[d] = fmt::format("history_{}_{}", d, part.shape[d]);
    return result;
}

json json_of(const OutputState& state) {
    return json::array({state.path, state.period, state.records});
}

OutputState output_of(const json& value) {
    return {value.at(0).get<std::string>(), value.at(1).get<std::int64_t>(),
            value.at(2).get<std::int64_t>()};
}

std::string date_or_none(const std::optional<Date>& date) { return date ? date_text(*date) : ""; }
std::string duration_or_none(const std::optional<Duration>& duration) {
    return duration ? duration_text(*duration) : "";
}

std::string inner_text(const std::optional<Inner>& inner) {
    return inner ? std::string(op_name(inner->op)) + "/" + duration_text(inner->every) : "";
}

/// Finds the first key whose value differs, in words; "" if there is none.
std::string difference(const std::vector<std::pair<std::string, std::string>>& now,
                       const json& before) {
    for (const auto& [key, value] : now) {
        const auto found = before.find(key);
        const std::string old = found == before.end() ? "" : found->get<std::string>();
        if (old != value) return fmt::format("'{}' was '{}' and is '{}'", key, old, value);
    }
    return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe(const StreamTable& stream,
                                                          const std::vector<Variable*>& variables) {
    std::vector<std::pair<std::string, std::string>> keys;
    static const char* const every[] = {"", "step", "once", "run"};
    static const char* const anchors[] = {"calendar", "start", ""};
    const auto number = [](auto value) { return std::to_string(static_cast<std::int64_t>(value)); };
    keys.emplace_back("every", stream.every == Every::window
                                   ? duration_text(stream.duration)
                                   : every[static_cast<int>(stream.every)]);
    keys.emplace_back("anchor", stream.anchor.kind == Anchor::Kind::date
                                    ? date_text(stream.anchor.date)
                                    : anchors[static_cast<int>(stream.anchor.kind)]);
    keys.emplace_back("from", date_or_none(stream.from));
    keys.emplace_back("to", date_or_none(stream.to));
    keys.emplace_back("path", stream.path);
    keys.emplace_back("new_file", duration_or_none(stream.new_file));
    keys.emplace_back("records", number(stream.records));
    keys.emplace_back("files", stream.file_per_variable ? "variable" : "stream");
    keys.emplace_back("stamp", number(stream.stamp));
    keys.emplace_back("partial", stream.drop_partial ? "drop" : "write");
    keys.emplace_back("initial", stream.initial ? "true" : "false");
    keys.emplace_back("boundary", stream.next_file ? "next" : "previous");
    keys.emplace_back("sample", duration_or_none(stream.sample));
    std::string hours;
    for (const Time hour : stream.hours) hours += std::to_string(hour / one_second) + " ";
    keys.emplace_back("hours", hours);
    keys.emplace_back("region", stream.region);
    keys.emplace_back("map", stream.map);
    std::string fields;
    for (const Variable* variable : variables) fields += variable->name() + " ";
    keys.emplace_back("fields", fields);
    for (const Variable* variable : variables) {
        const StreamField& f = variable->about();
        std::string shape;
        for (const std::int64_t n : variable->chosen().part.shape) shape += std::to_string(n) + " ";
        keys.emplace_back(
            "field." + f.name,
            fmt::format(
                "of {} op {} inner {} weight {} missing {} weights {} min_valid {} ddof {} "
                "type {} shape {}",
                variable->field().declared.name, op_name(f.statistic.op), inner_text(f.inner),
                variable->weight_field() ? variable->weight_field()->declared.name : "",
                static_cast<int>(f.statistic.missing), f.statistic.counts ? "count" : "duration",
                f.statistic.min_valid, f.statistic.ddof, static_cast<int>(f.type), shape));
    }
    return keys;
}

/// Collects the numbers of all variables from the ranks that hold elements. @note Collective
Status History::gather_states(std::vector<VariableState>& states) {
    constexpr std::size_t n = std::tuple_size_v<VariableState::Words>;
    const std::vector<Variable*> variables = all_variables();
    std::vector<std::int64_t> words(2 * n * variables.size(), 0);
    for (std::size_t v = 0; v < variables.size(); ++v) {
        const VariableState::Words own = variables[v]->state().to_words();
        for (std::size_t i = 0; i < n && variables[v]->held(); ++i) {
            words[2 * (n * v + i)] = own[i];
            words[2 * (n * v + i) + 1] = ~own[i];
        }
    }
    const Status mine = in_step_ ? failure(TW_ESTATE, "history: the step has not ended") : Status{};
    if (Status status = ranks_.meet(mine, 0, words); !status.ok()) return status;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        VariableState::Words all{};
        for (std::size_t i = 0; i < n; ++i) {
            all[i] = words[2 * (n * v + i)];
            if ((all[i] & words[2 * (n * v + i) + 1]) != 0)
                return failure(TW_EMISMATCH,
                               "field '{}': the ranks have sent it at different times or with "
                               "different weights",
                               variables[v]->field().declared.name);
        }
        states.push_back(VariableState::from_words(all));
    }
    return {};
}

/// Declares the decompositions of the state. @note Collective
Status History::declare_for_restart() {
    Status status;
    for (Taken& t : taken_)
        if (t.restart == nullptr)
            keep_first(status, ranks_.status(
                                   declare(ranks_.session(), renamed(t.chosen->part), &t.restart)));
    return status;
}

Status History::save_arrays(tw_restart restart, tw_file file) {
    Status status;
    for (const auto& stream : streams_)
        for (const auto& variable : stream->variables()) {
            const Taken& t = *taken_of_.at(variable.get());
            const Part part = renamed(t.chosen->part);
            std::vector<std::string> dims = part.dims;
            if (part.replicated)
                for (int d = 0; d < part.nd(); ++d) {
                    const tw_status code = tw_def_dim(file, part.dims[d].c_str(), part.shape[d]);
                    if (code != TW_EEXISTS) keep_first(status, ranks_.status(code));
                }
            for (const StateArray& array : variable->arrays())
                keep_first(status,
                           ranks_.status(tw_restart_add(
                               restart, array_name(stream->table(), *variable, array).c_str(),
                               array.type, join_dims(dims).c_str(), t.restart, array.data,
                               t.chosen->elements, TW_COPIED)));
        }
    return status;
}

Status History::save(tw_restart restart) {
    std::vector<VariableState> states;
    if (Status status = gather_states(states); !status.ok()) return status;
    Status status;
    for (Output* output : all_outputs()) keep_first(status, output->sync());
    keep_first(status, declare_for_restart());
    if (status = ranks_.meet(status, 0, {}); !status.ok()) return status;
    const Status mine = detail::alone([&]() -> Status {
        json all;
        all["calendar"] = calendar_name(context_.run.calendar);
        all["start"] = date_text(context_.run.calendar, context_.run.start);
        if (previous_) all["time"] = *previous_;
        auto state = states.begin();
        for (const auto& stream : streams_) {
            json& one = all["streams"][stream->table().name];
            std::vector<Variable*> variables;
            for (const auto& variable : stream->variables()) {
                variables.push_back(variable.get());
                one["variables"][variable->name()] = (state++)->to_words();
            }
            for (const auto& [key, value] : describe(stream->table(), variables))
                one["definition"][key] = value;
            for (const auto& output : stream->outputs())
                one["outputs"].push_back(json_of(output->state()));
        }
        tw_file file = nullptr;
        Status saved = ranks_.status(tw_restart_file(restart, &file));
        if (!saved.ok()) return saved;
        saved = ranks_.status(tw_put_att_text(file, "", attribute_name, all.dump().c_str()));
        keep_first(saved, save_arrays(restart, file));
        return saved;
    });
    status = ranks_.meet(mine, 0, {});
    saved_ = status.ok();
    return status;
}

/// Reads the sums. @note Collective
Status History::load_arrays(tw_file file) {
    Status status;
    for (const auto& stream : streams_)
        for (const auto& variable : stream->variables()) {
            const Taken& t = *taken_of_.at(variable.get());
            for (const StateArray& array : variable->arrays())
                keep_first(status, ranks_.status(tw_get(
                                       file, array_name(stream->table(), *variable, array).c_str(),
                                       t.restart, 0, array.type, array.data, t.chosen->elements)));
        }
    return status;
}

Status History::load(tw_file file) {
    std::vector<std::vector<OutputState>> outputs;
    Status mine = detail::alone([&]() -> Status {
        if (!ready_ || in_step_ || previous_)
            return failure(
                TW_ESTATE,
                "history: tw_history_load belongs between tw_history_ready and the first "
                "tw_history_time");
        tw_type type{};
        std::int64_t n = 0;
        Status status = ranks_.status(tw_inq_att(file, "", attribute_name, &type, &n));
        if (!status.ok()) {
            status.text = "history: the file has no state of a history: " + status.text;
            return status;
        }
        std::string text(n + 1, '\0');
        status = ranks_.status(tw_get_att_text(file, "", attribute_name, n + 1, text.data()));
        if (!status.ok()) return status;
        text.resize(n);
        const json all = json::parse(text, nullptr, false);
        if (all.is_discarded()) return failure(TW_EFORMAT, "history: the state is damaged");
        const std::string start = date_text(context_.run.calendar, context_.run.start);
        if (all.at("calendar") != calendar_name(context_.run.calendar) || all.at("start") != start)
            return failure(
                TW_EDIFFERENT, "history: the run began at {} in the calendar {}, not at {} in {}",
                all.at("start").get<std::string>(), all.at("calendar").get<std::string>(), start,
                calendar_name(context_.run.calendar));
        for (const auto& stream : streams_) {
            const std::string& name = stream->table().name;
            const json streams = all.value("streams", json::object());
            const auto found = streams.find(name);
            if (found == streams.end())
                return failure(TW_EDIFFERENT, "history: stream '{}' was not there before", name);
            std::vector<Variable*> variables;
            for (const auto& variable : stream->variables()) variables.push_back(variable.get());
            const std::string differs =
                difference(describe(stream->table(), variables), found->at("definition"));
            if (!differs.empty())
                return failure(TW_EDIFFERENT, "history: stream '{}': {}", name, differs);
            for (Variable* variable : variables)
                variable->set_state(VariableState::from_words(
                    found->at("variables").at(variable->name()).get<VariableState::Words>()));
            outputs.emplace_back();
            for (const json& one : found->value("outputs", json::array()))
                outputs.back().push_back(output_of(one));
            if (outputs.back().size() != stream->outputs().size())
                return failure(TW_EFORMAT, "history: the state is damaged");
        }
        if (all.contains("time")) previous_ = all.at("time").get<Time>();
        return {};
    });
    if (Status status = ranks_.meet(mine, 0, {}); !status.ok()) return status;
    Status status = declare_for_restart();
    keep_first(status, load_arrays(file));
    for (std::size_t s = 0; s < streams_.size() && status.ok(); ++s)
        for (std::size_t o = 0; o < outputs[s].size(); ++o) {
            keep_first(status, limit_open());
            keep_first(status, streams_[s]->outputs()[o]->resume(outputs[s][o]));
        }
    return ranks_.meet(status, 0, {});
}

}  // namespace thalweg::history
