// Reductions of a history's variables over dimensions, or to regions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "history/history.hpp"

namespace thalweg::history {

Status History::make_reduction(OutputStream& stream, const StreamField& about, Reducing& reducing) {
    const StreamTable& table = stream.table();
    Field& field = *reducing.field;
    std::shared_ptr<const Grouping> grouping;
    if (Status s = groupings_.make(table, about, field, *reducing.taken, grouping); !s.ok())
        return s;
    const Field* const weight = reducing.weights.field;
    if (!table.reduce.area.empty())
        reducing.units.push_back(
            text_of(declared_.coordinates().at(table.reduce.area).attributes, "units"));
    if (weight != nullptr) reducing.units.push_back(text_of(weight->attributes, "units"));
    const bool weighted = weight != nullptr || about.statistic.weight_field ||
                          !table.reduce.area.empty() ||
                          (!about.reduces_samples && about.statistic.missing == Missing::varying);
    auto reduction = std::make_shared<const Reduction>(*table.reduce.op, grouping, weighted);
    if (!about.reduces_samples) {
        reducing.reduction = std::move(reduction);
        return {};
    }
    StepReduction& made = reductions_.emplace_back(
        field, *reducing.taken, reduction, std::exchange(reducing.weights, Weights{}),
        reduced_dims(field.declared.dims, about.reduced, table.reduce.by));
    field.reductions.push_back(&made);
    if (weight != nullptr) declared_.fields()[about.weight].weighed_reductions.push_back(&made);
    if (made.joins_ranks()) stream.set_reduces_samples();
    reducing.field = &made.field();
    reducing.taken = grouping->results;
    return {};
}

/// Sends a sample that has been reduced to the variables that take it.
Status History::send_reduced(StepReduction& reduction) {
    const char* const sample = reduction.sample();
    if (sample == nullptr) return {};
    return send(reduction.field(), dense_boxes(reduction.field().part, sample, sizeof(double)),
                true, TW_DOUBLE, reduction.own_weight());
}

/// Reduces the samples of the step whose groups have elements on several ranks.
/// @note Collective if there are any
Status History::reduce_samples() {
    std::vector<StepReduction*> used;
    std::vector<Reduced*> reduced;
    std::vector<std::int64_t> words;
    for (StepReduction& one : reductions_) {
        if (!one.joins_ranks() || one.field().wanted == 0) continue;
        one.prepare();
        one.give_words(words);
        used.push_back(&one);
        reduced.push_back(&one.reduced());
    }
    // A rank whose time was refused knows only which streams take the step.
    const bool meets =
        std::ranges::any_of(streams_, [](const auto& stream) { return stream->meets(); });
    Status status;
    if (meets) status = ranks_.agree({}, step_.now, words);
    if (status.ok()) {
        std::span<const std::int64_t> all(words);
        for (StepReduction* one : used)
            if (Status s = one->take_words(all); !s.ok()) fail_samples(one->field(), s);
        status = combine(ranks_, reduced);
    }
    for (StepReduction* one : used)
        if (status.ok()) status = send_reduced(*one);
    for (StepReduction& one : reductions_) {
        one.end_step();
        one.field().boxes_sent = 0;
        one.field().wanted = 0;
        std::fill(one.field().sent_boxes.begin(), one.field().sent_boxes.end(), false);
    }
    return status;
}

}  // namespace thalweg::history
