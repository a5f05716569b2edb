// SPDX-License-Identifier: Apache-2.0
#include "history/files/saved_state.hpp"

#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompleteFile, path, records)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OutputState, path, period, records, complete, aggregated)

namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

std::string state_attribute(int history) { return state_attributes + std::to_string(history); }

/// Returns the name of an array in the restart. It consists of numbers, as names of streams and
/// variables joined together could collide.
std::string array_name(int history, std::size_t stream, std::size_t variable,
                       const std::string& array) {
    return fmt::format("history_{}_{}_{}_{}", history, stream, variable, array);
}

/// Describes the chosen indices of each dimension by their count and hash.
std::string choice_text(const Choice& choice) {
    std::string text;
    const auto add = [&](const std::string& dim, const Integers& indices) {
        const std::string_view bytes(reinterpret_cast<const char*>(indices.data()),
                                     indices.size() * sizeof(std::int64_t));
        text += fmt::format("{} {} of {:016x} ", indices.size(), dim, detail::hash_of(bytes));
    };
    for (const auto& [dim, indices] : choice.along) add(dim, indices);
    if (!choice.pick.dims.empty()) add(choice.pick.dim, choice.pick.at);
    return text;
}

std::string date_or_none(const std::optional<Date>& date) { return date ? date_text(*date) : ""; }
std::string duration_or_none(const std::optional<Duration>& duration) {
    return duration ? duration_text(*duration) : "";
}

std::string reduce_text(const FileContext& context, const StreamTable& stream) {
    const Reduce& reduce = stream.reduce;
    if (!reduce.op) return "";
    const auto values_of = [&](const std::string& name) {
        const auto found = context.hashes.find(name);
        return found == context.hashes.end() ? name : fmt::format("{} {:x}", name, found->second);
    };
    return fmt::format("{} over {} by {} area {} weight {}", static_cast<int>(*reduce.op),
                       joined_names(reduce.over), values_of(reduce.by), values_of(reduce.area),
                       stream.weight);
}

std::string map_text(OutputStream& of) {
    for (const auto& variable : of.variables())
        if (const Mapping* const mapping = variable->mapping.get()) {
            const Map& map = mapping->map();
            return fmt::format("zoom {} map {:016x} missing {} {} names {} {}",
                               of.table().reduce.zoom, static_cast<std::uint64_t>(map.hash),
                               static_cast<int>(map.rules.missing), map.rules.min_fraction,
                               map.rules.latitude, map.rules.longitude);
        }
    return {};
}

/// Calls visit(stream, its state) for each stream that continues one of a state, until a failure.
template <class Visit>
Status for_continued(const Streams& streams, const json& state, Visit&& visit) {
    for (const auto& stream : streams) {
        const auto found = state.at("streams").find(stream->table().name);
        if (found == state.at("streams").end()) continue;
        if (Status status = visit(*stream, *found); !status.ok()) return status;
    }
    return {};
}

std::string describe_every(const StreamTable& stream, Calendar calendar) {
    std::string text = every_text(stream);
    for (const Time time : stream.timing.times) text += " " + date_text(calendar, time);
    return text;
}

bool has_windows(const std::string& every) {
    return every != "step" && every != "once" && every != "run";
}

/// Describes the first key whose value differs; "" if there is none. Other windows do
/// not count as a difference.
std::string difference(const Properties& now, const json& before) {
    for (const auto& [key, value] : now) {
        const auto found = before.find(key);
        const std::string old = found == before.end() ? "" : found->get<std::string>();
        if (key == "every" && has_windows(old) && has_windows(value)) continue;
        if (old != value) return fmt::format("'{}' was '{}' and is '{}'", key, old, value);
    }
    return {};
}

/// Lists the properties of a stream that must be the same after a restart, as keys and values.
Properties describe(const FileContext& context, OutputStream& of) {
    const StreamTable& stream = of.table();
    static const char* const anchors[] = {"calendar", "start", ""};
    const auto anchor = static_cast<std::size_t>(stream.anchor.kind);
    std::string fields;
    for (const auto& variable : of.variables())
        if (variable->is_first()) fields += variable->name + " ";
    const std::string bins = (stream.timing.cycle.kind() == Cycle::Kind::day ? "day " : "year ") +
                             duration_text(stream.timing.cycle.bin());
    const Table& table = *context.table;
    Properties keys{
        {"time_units", table.time_units.text},
        {"time", table.time + " " + table.bounds + " " + table.bounds_dim},
        {"samples", table.edge == Edge::end ? "end" : "begin"},
        {"every", describe_every(stream, context.run.calendar)},
        {"bins", stream.timing.cycle ? bins : ""},
        {"anchor", stream.anchor.kind == Anchor::Kind::date ? date_text(stream.anchor.date)
                                                            : anchors[anchor]},
        {"from", date_or_none(stream.from)},
        {"to", date_or_none(stream.to)},
        {"path", stream.path},
        {"new_file", duration_or_none(stream.new_file)},
        {"records", std::to_string(stream.records)},
        {"files", stream.file_per_variable ? "variable" : "stream"},
        {"aggregate", stream.aggregate},
        {"stamp", std::to_string(static_cast<int>(stream.stamp))},
        {"partial", stream.drop_partial ? "drop" : "write"},
        {"initial", stream.initial ? "true" : "false"},
        {"boundary", stream.next_file ? "next" : "previous"},
        {"sample", duration_or_none(stream.sample)},
        {"hours", detail::joined(stream.hours, " ")},
        {"local_time", detail::joined(stream.timing.local_times, " ")},
        {"region", stream.region},
        {"map", map_text(of)},
        {"fields", fields},
        {"reduce", reduce_text(context, stream)}};
    for (const auto& variable : of.variables()) {
        if (!variable->is_first()) continue;
        const StreamField& f = *variable;
        const Field* const weight = variable->samples.weights.field;
        const std::string inner =
            f.inner ? fmt::format("{}/{}", op_name(f.inner->op), duration_text(f.inner->every))
                    : "";
        keys.emplace_back(
            "field." + f.name,
            fmt::format(
                "of {} op {} inner {} weight {} missing {} weights {} min_valid {} ddof {} type {} "
                "missing_value {} fill {} shape {} {}",
                variable->field.name, op_name(f.statistic.op), inner,
                f.keys.weight.value_or(weight == nullptr ? "" : weight->name),
                static_cast<int>(f.statistic.missing), f.statistic.counts ? "count" : "duration",
                f.statistic.min_valid, f.statistic.ddof, static_cast<int>(f.type),
                number_of(f.statistic.type, f.statistic.missing_value),
                number_of(f.type, variable->fill), detail::joined(variable->taken.part.shape, " "),
                choice_text(variable->taken.choice)));
    }
    return keys;
}

/// Collects the numbers of all variables from the ranks that hold elements. @note Collective
Status gather(SavedState& of, const Status& mine, std::vector<VariableState>& states) {
    constexpr std::size_t n = std::tuple_size_v<VariableState::Fields>, failed_word = n - 1;
    const std::vector<Variable*> variables = variables_of(of.streams);
    std::vector<std::int64_t> words(2 * n * variables.size(), 0);
    for (std::size_t v = 0; v < variables.size(); ++v) {
        const VariableState::Fields own = variables[v]->samples.state().fields();
        words[2 * (n * v + failed_word)] = own[failed_word];
        for (std::size_t i = 0; i < failed_word && variables[v]->held(); ++i) {
            words[2 * (n * v + i)] = own[i];
            words[2 * (n * v + i) + 1] = ~own[i];
        }
    }
    if (Status status = of.ranks.agree(mine, 0, words); !status.ok()) return status;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        VariableState::Fields all{};
        for (std::size_t i = 0; i < n; ++i) {
            all[i] = words[2 * (n * v + i)];
            if ((all[i] & words[2 * (n * v + i) + 1]) != 0)
                return failure(TW_EMISMATCH,
                               "field '{}': the ranks have sent it at different times or with "
                               "different weights",
                               variables[v]->field.name);
        }
        states.push_back(std::bit_cast<VariableState>(all));
    }
    return {};
}

Status save_arrays(SavedState& of, tw_restart restart, tw_file file) {
    Checks check(of.ranks);
    for (std::size_t s = 0; s < of.streams.size(); ++s)
        for (std::size_t v = 0; v < of.streams[s]->variables().size(); ++v) {
            Variable& variable = *of.streams[s]->variables()[v];
            const Taken& t = variable.taken;
            const Part part = restart_part(t.part);
            for (int d = 0; d < part.nd() && part.replicated; ++d)
                check.unless(TW_EEXISTS, tw_def_dim(file, part.dims[d].c_str(), part.shape[d]));
            for (const auto& [name, type, data] : variable.samples.arrays())
                check(tw_restart_add(restart, array_name(of.ranks.number(), s, v, name).c_str(),
                                     type, joined_names(part.dims).c_str(), t.restart, data,
                                     t.elements, TW_COPIED));
        }
    return check.status;
}

/// @note Collective
Status load_arrays(SavedState& of, tw_file file, const json& state) {
    Checks check(of.ranks);
    (void)for_continued(of.streams, state, [&](OutputStream& stream, const json& own) -> Status {
        const auto number = own.at("number").get<std::size_t>();
        for (std::size_t v = 0; v < stream.variables().size(); ++v) {
            const Taken& t = stream.variables()[v]->taken;
            for (const auto& [name, type, data] : stream.variables()[v]->samples.arrays())
                check(tw_get(file, array_name(of.ranks.number(), number, v, name).c_str(),
                             t.restart, 0, type, data, t.elements));
        }
        return {};
    });
    return check.status;
}

/// Reads the text of a state, and checks that it belongs to this history. Local.
Status read(const FileContext& context, tw_file file, json& state) {
    const Ranks& ranks = *context.ranks;
    const std::string name = state_attribute(ranks.number());
    tw_type type{};
    std::int64_t n = 0;
    Status status = ranks.status(tw_inq_att(file, "", name.c_str(), &type, &n));
    if (!status.ok()) {
        status.text = "history: the file has no state of this history: " + status.text;
        return status;
    }
    std::string text(n + 1, '\0');
    status = ranks.status(tw_get_att_text(file, "", name.c_str(), n + 1, text.data()));
    if (!status.ok()) return status;
    text.resize(n);
    state = json::parse(text, nullptr, false);
    if (state.is_discarded()) return failure(TW_EFORMAT, "history: the state is damaged");
    const std::string start = context.text(context.run.start);
    if (state.at("calendar") != calendar_name(context.run.calendar) || state.at("start") != start)
        return failure(
            TW_EDIFFERENT, "history: the run began at {} in the calendar {}, not at {} in {}",
            state.at("start").get<std::string>(), state.at("calendar").get<std::string>(), start,
            calendar_name(context.run.calendar));
    if (!state.contains("streams")) state["streams"] = json::object();
    return {};
}

/// Checks that the streams are those of the state. Local.
Status compare(const SavedState& of, const json& state) {
    return for_continued(of.streams, state, [&](OutputStream& stream, const json& own) -> Status {
        const std::string differs = difference(describe(of.context, stream), own.at("definition"));
        if (!differs.empty())
            return failure(TW_EDIFFERENT, "history: stream '{}': {}", stream.table().name, differs);
        if (own.at("variables").size() != stream.variables().size() ||
            own.at("outputs").size() != stream.outputs().size())
            return failure(TW_EFORMAT, "history: the state is damaged");
        return {};
    });
}

/// Sets the numbers from a state that was checked. A stream that the state lacks begins now. Local.
void take(SavedState& of, const json& state, std::optional<Time>& previous) {
    if (state.contains("time")) previous = state.at("time").get<Time>();
    for (const auto& stream : of.streams)
        if (previous && !state.at("streams").contains(stream->table().name))
            stream->begin_at(*previous);
    (void)for_continued(of.streams, state, [&](OutputStream& stream, const json& own) -> Status {
        if (own.contains("begin")) stream.begin_at(own.at("begin").get<Time>());
        if (own.contains("change"))
            stream.change_windows(
                {own.at("change").at(0).get<Time>(), own.at("change").at(1).get<Time>()});
        const std::string every = describe_every(stream.table(), of.context.run.calendar);
        const std::string before = own.at("definition").at("every").get<std::string>();
        if (every != before && previous) {
            stream.change_windows({*previous, own.at("open").get<Time>()});
            if (of.ranks.rank() == 0)
                detail::log::warn(
                    "history: stream '{}': 'every' was '{}' and is '{}': the window "
                    "that began at {} ends with the new one",
                    stream.table().name, before, every,
                    of.context.text(own.at("open").get<Time>()));
        }
        for (std::size_t v = 0; v < stream.variables().size(); ++v)
            stream.variables()[v]->samples.set_state(std::bit_cast<VariableState>(
                own.at("variables").at(v).get<VariableState::Fields>()));
        return {};
    });
}

/// @note Collective
Status resume_outputs(SavedState& of, const json& state, Records& records) {
    return for_continued(of.streams, state, [&](OutputStream& stream, const json& own) {
        Status status;
        for (std::size_t o = 0; o < stream.outputs().size() && status.ok(); ++o) {
            keep_first(status, records.limit_open());
            keep_first(status,
                       stream.outputs()[o]->resume(own.at("outputs").at(o).get<OutputState>()));
        }
        return status;
    });
}

}  // namespace

Status forget_stream(const std::string& stream, std::string& text, Names& files) {
    json state = json::parse(text, nullptr, false);
    if (!state.is_object()) return failure(TW_EFORMAT, "history: the state is damaged");
    const json& streams = state["streams"];
    const auto found = streams.find(stream);
    if (found == streams.end()) {
        Names names;
        for (const auto& [name, value] : streams.items()) names.push_back("'" + name + "'");
        return failure(TW_ENOTFOUND, "there is no stream '{}'; there are: {}", stream,
                       detail::joined(names, ", "));
    }
    for (const json& output : found->at("outputs"))
        if (auto file = output.get<OutputState>(); !file.path.empty())
            files.push_back(std::move(file.path));
    state["streams"].erase(stream);
    text = state.dump();
    return {};
}

Status SavedState::save(tw_restart restart, const Status& mine, std::optional<Time> previous) {
    std::vector<VariableState> states;
    if (Status status = gather(*this, mine, states); !status.ok()) return status;
    Status status;
    for (Output* output : outputs_of(streams)) keep_first(status, output->sync());
    keep_first(status, choices.declare(ranks, true));
    if (status = ranks.agree(status, 0, {}); !status.ok()) return status;
    json all;
    all["calendar"] = calendar_name(context.run.calendar);
    all["start"] = context.text(context.run.start);
    if (previous) all["time"] = *previous;
    all["picks"] = picks.settled();
    auto state = states.begin();
    for (std::size_t s = 0; s < streams.size(); ++s) {
        OutputStream& stream = *streams[s];
        json& one = all["streams"][stream.table().name];
        one["number"] = s;
        one["variables"] = one["outputs"] = json::array();
        if (stream.late_begin()) one["begin"] = *stream.late_begin();
        std::optional<Window> open, inner;
        if (previous) open = open_window(stream.rules(), *previous, inner);
        if (previous) one["open"] = open ? open->begin : *previous;
        if (const auto& change = stream.rules().change)
            one["change"] = json::array({change->at, change->open});
        for (const auto& variable : stream.variables()) {
            variable->samples.weigh(state->numbers.weighs);
            one["variables"].push_back((state++)->fields());
        }
        for (const auto& [key, value] : describe(context, stream)) one["definition"][key] = value;
        for (const auto& output : stream.outputs()) one["outputs"].push_back(output->state());
    }
    tw_file file = nullptr;
    status = ranks.status(tw_restart_file(restart, &file));
    if (status.ok()) {
        status = ranks.status(
            tw_put_att_text(file, "", state_attribute(ranks.number()).c_str(), all.dump().c_str()));
        keep_first(status, save_arrays(*this, restart, file));
    }
    return ranks.agree(status, 0, {});
}

Status SavedState::load(tw_file file, Status mine,
                        const std::function<Status(const std::set<const RegionPick*>&)>& make_again,
                        Records& records, std::optional<Time>& previous, Status& broken) {
    json state;
    const bool changes = picks.any_waits();  // the same on every rank
    if (mine.ok())
        mine = detail::catch_errors([&]() -> Status {
            if (Status status = read(context, file, state); !status.ok()) return status;
            const auto found = picks.restore(
                state.value("picks", RegionPicks::Settled{}),
                [&](const std::string& stream) { return state.at("streams").contains(stream); });
            if (Status status = make_again(found); !status.ok()) return status;
            return compare(*this, state);
        });
    Status status = ranks.agree(mine, 0, {});
    if (!status.ok()) {
        if (changes && status.code != TW_ESTATE) broken = status;
        return status;
    }
    status = detail::catch_errors([&] { take(*this, state, previous); });  // it may be damaged
    keep_first(status, choices.declare(ranks));
    keep_first(status, choices.declare(ranks, true));
    keep_first(status, load_arrays(*this, file, state));
    if (status.ok()) status = resume_outputs(*this, state, records);
    return broken = ranks.agree(status, 0, {});
}

}  // namespace thalweg::history
