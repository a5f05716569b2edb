// SPDX-License-Identifier: Apache-2.0
#include "history/files/output_stream.hpp"

#include "base/log.hpp"

namespace thalweg::history {

OutputStream::OutputStream(FileContext& context, const StreamTable& table,
                           const ResolvedStream& resolved)
    : context_(context),
      table_(table),
      rules_(window_rules(*context.table, table, context.run, std::nullopt)),
      steps_(1) {
    set_splits(table, resolved.fields, rules_);
}

void OutputStream::make_outputs(
    const std::function<std::vector<WrittenCoordinate>(const std::vector<Variable*>&)>&
        coordinates) {
    std::vector<Variable*> all;
    const auto make = [&] {
        outputs_.push_back(
            std::make_unique<Output>(context_, table_, rules_, all, coordinates(all)));
        all.clear();
    };
    for (const auto& variable : variables_) {
        const bool begins = variable->is_first() && !variable->about().term;
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
    for (const auto& variable : variables_) variable->change_windows(change);
}

Status OutputStream::plan_step(std::optional<Time> previous, Time now) {
    if (rules_.every == Every::once && previous == late_begin_) previous.reset();
    steps_.resize(1);
    Status status = take_step(rules_, previous, now, steps_.front());
    for (const auto& variable : variables_) {
        if (!variable->has_own_steps()) continue;
        steps_.emplace_back();
        keep_first(status, take_step(variable->rules(), previous, now, steps_.back()));
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
            variable->samples().begin_step(
                table_.timing.cycle.in_bin(*rules_.inner, variable->about().bin, step), waits);
        else
            variable->samples().begin_step(step, waits);
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
