// SPDX-License-Identifier: Apache-2.0
#include "history/files/records.hpp"

#include "base/log.hpp"
#include "base/text/text.hpp"

namespace thalweg::history {

static std::vector<DueVariable> variables_due(const std::vector<Due>& due) {
    std::vector<DueVariable> variables;
    for (const Due& one : due)
        for (const auto& variable : one.stream->variables()) variables.push_back({one, *variable});
    return variables;
}

Status Records::write(const std::vector<Due>& due, Time now) {
    Status status = check_samples(due, now);
    if (status.ok()) status = write_records(due);
    drop_records(due);
    return status;
}

Status Records::write_records(const std::vector<Due>& due) {
    Status status;
    std::vector<std::int64_t> waits;  // per output: 1 if some rank still has unwritten values
    for (const Due& one : due) keep_first(status, write_window(one));
    for (const Due& one : due)
        for (const auto& output : one.stream->outputs()) waits.push_back(output->values_wait());
    status = context_.ranks->agree(status, 0, waits);
    auto wait = waits.begin();
    // The file is closed while the values are still there, so it writes no others.
    for (const Due& one : due)
        for (const auto& output : one.stream->outputs())
            if (*wait++ != 0) keep_first(status, output->close(true));
    return status;
}

void drop_records(const std::vector<Due>& due) {
    for (const Due& one : due)
        for (const auto& variable : one.stream->variables())
            variable->samples.end_record(one.number);
}

/// Checks that all required variables were sent, and with the same samples on all ranks.
Status Records::check_samples(const std::vector<Due>& due, Time now) {
    const std::vector<DueVariable> variables = variables_due(due);
    Status mine;
    // Two words for each variable: the hash of its samples, and the complement; then another word
    // for each: this rank wanted a sample. A rank whose time was refused wanted none.
    std::vector<std::int64_t> fields;
    for (const auto& [one, variable] : variables) {
        const RecordSamples samples = variable.samples.record(one.number);
        fields.push_back(variable.held() ? samples.log : 0);
        fields.push_back(variable.held() ? ~samples.log : 0);
        keep_first(mine, samples.failure);
    }
    for (const auto& [one, variable] : variables)
        fields.push_back(variable.samples.record(one.number).wanted);
    std::vector<Reduced*> reduced;  // those whose groups have elements on several ranks
    for (const auto& [one, variable] : variables)
        if (variable.reduction != nullptr && variable.reduction->joins_ranks())
            reduced.push_back(static_cast<Reduced*>(variable.samples.joined(one.number)));
    for (const Reduced* one : reduced) one->give_bins(fields);
    if (Status status = context_.ranks->agree(mine, now, fields); !status.ok()) return status;
    if (Status status = find_differences(variables, fields); !status.ok()) return status;
    if (Status status = check_unsent(variables, fields, now); !status.ok()) return status;
    auto bins = std::span<const std::int64_t>(fields).subspan(3 * variables.size());
    for (Reduced* one : reduced) one->take_bins(bins);
    if (Status status = combine(*context_.ranks, reduced); !status.ok()) return status;
    std::vector<Mapped*> mapped;
    for (const auto& [one, variable] : variables)
        if (variable.maps_results() && sent_in_record_.contains({&variable, one.number}))
            mapped.push_back(static_cast<Mapped*>(variable.samples.joined(one.number)));
    return Mapped::exchange(*context_.ranks, mapped);
}

/// Finds variables whose samples differ between ranks. @note Collective if there are any
Status Records::find_differences(const std::vector<DueVariable>& variables,
                                 std::span<const std::int64_t> fields) {
    Status unsent, differs;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        if ((fields[2 * v] & fields[2 * v + 1]) == 0) continue;
        const auto& [one, variable] = variables[v];
        const std::string& name = variable.field.name;
        if (variable.held() && variable.samples.record(one.number).log == 0)
            keep_first(unsent,
                       failure(TW_EMISSING, "field '{}' was sent by some ranks, but not by rank {}",
                               OfVariable{name}, OfRank{context_.ranks->rank()}));
        keep_first(
            differs,
            failure(
                TW_EMISMATCH,
                "field '{}': the ranks have sent it at different times or with different weights",
                OfVariable{name}));
    }
    if (differs.ok()) return {};
    Status status = context_.ranks->agree(unsent, 0, {});
    return status.ok() ? differs : status;
}

/// Checks variables without samples. @return the same on every rank
Status Records::check_unsent(const std::vector<DueVariable>& variables,
                             std::span<const std::int64_t> fields, Time now) {
    Names unsent;
    bool fails = context_.table->unsent_error;
    sent_in_record_.clear();
    wanted_bins_.clear();
    for (std::size_t v = 0; v < variables.size(); ++v) {
        const auto& [one, variable] = variables[v];
        const bool wanted = fields[2 * variables.size() + v] != 0;
        if (wanted) wanted_bins_.insert({&one, variable.bin});
        if (fields[2 * v] != 0 || fields[2 * v + 1] == 0) {
            variable.samples.set_ever();
            sent_in_record_.insert({&variable, one.number});
        } else if (wanted) {
            // If none was wanted, a filter has left no sample.
            unsent.push_back("'" + variable.field.name + "'");
            // Without its stations, which follow from the field's land, a stream has no file.
            fails = fails || one.stream->outputs().empty();
            if (!fails) warn_unsent(one, variable);
        }
    }
    if (!fails || unsent.empty()) return {};
    return failure(TW_EMISSING, "history: not sent in the window before {}: {}", context_.text(now),
                   detail::joined(unsent, ", "));
}

void Records::warn_unsent(const Due& due, const Variable& variable) {
    const std::string name =
        fmt::format("stream '{}': field '{}'", due.stream->table().name, variable.field.name);
    if (!warned_.insert(name).second || context_.ranks->rank() != 0) return;
    const std::string when = !variable.samples.ever() ? "before " + context_.text(due.window.end)
                             : variable.instant()     ? "at " + context_.text(due.window.end)
                                                      : "from " + context_.text(due.window.begin) +
                                                        " to " + context_.text(due.window.end);
    detail::log::warn("history: {} was not sent {}; its values are the fill value", name, when);
}

Status Records::write_window(const Due& due) {
    const Cycle& cycle = due.stream->table().timing.cycle;
    const auto wanted = [&](int bin) { return wanted_bins_.contains({&due, bin}); };
    Status status;
    for (const WindowPart& part : cycle.parts(context_.run.calendar, due.window, wanted))
        keep_first(status, write_record(due, part));
    return status;
}

Status Records::write_record(const Due& due, const WindowPart& part) {
    OutputStream& stream = *due.stream;
    Status status;
    for (const auto& output : stream.outputs()) {
        if (!output->is_open()) keep_first(status, limit_open());
        keep_first(status, output->prepare(due.window));
        for (Variable* variable : output->variables) {
            if (variable->bin != part.bin) continue;
            if (sent_in_record_.count({variable, due.number}) == 0) continue;
            const void* values = nullptr;
            Status result = variable->samples.result(due.number, values);
            if (result.code == TW_ERANGE)
                reword(result, "stream '{}': variable '{}': {}", stream.table().name,
                       OfVariable{variable->name}, result.text);
            keep_first(status, result);
            keep_first(status, output->put(*variable, values));
        }
        keep_first(status, output->end_record(due.window, part));
    }
    return status;
}

Status Records::limit_open() {
    Status status;
    while (context_.opened >= context_.max_open) {
        Output* oldest = nullptr;
        for (Output* output : outputs_of(streams_))
            if (output->is_open() && (!oldest || output->last_use() < oldest->last_use()))
                oldest = output;
        if (oldest == nullptr) break;
        keep_first(status, oldest->close(true));
    }
    return status;
}

}  // namespace thalweg::history
