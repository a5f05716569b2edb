// SPDX-License-Identifier: Apache-2.0
#include "history/history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <utility>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "history/selection/step_values.hpp"
#include "index/types.hpp"

namespace thalweg::history {

History::History(Ranks& ranks, Table table, const RunTimes& run, std::string settings)
    : ranks_(ranks),
      table_(std::move(table)),
      context_{&ranks_, &table_, run, std::move(settings)} {}

std::int64_t History::memory() const {
    std::int64_t bytes = 0;
    for (const Variable* variable : variables_of(streams_)) bytes += variable->samples.bytes();
    for (const Field& field : declared_.fields())
        bytes +=
            (field.step ? field.step->bytes() : 0) + (field.computed ? field.computed->bytes() : 0);
    return bytes;
}

Status History::set_time(double seconds) {
    Status status = detail::catch_errors([&] { return begin_step(seconds); });
    if (status.ok() || (declared_.ended() && !step_.open)) step_.lost = status;
    return status;
}

static Status plan_step(const Streams& streams, std::optional<Time> previous, Time now) {
    for (const auto& stream : streams)
        if (Status status = stream->plan_step(previous, now); !status.ok()) return status;
    return {};
}

Status History::begin_step(double seconds) {
    if (!declared_.ended())
        return failure(TW_ESTATE, "history: tw_history_ready has not been called");
    Time since = 0;
    if (Status status = parse_seconds(seconds, since); !status.ok()) return status;
    const Time now = context_.run.start + since;
    if (step_.open && now == step_.now) return {};
    if (step_.open)
        return failure(TW_ESTATE, "history: the step of {} has not ended: call tw_history_end_step",
                       context_.text(step_.now));
    if (since < 0 || (step_.previous && now <= *step_.previous))
        return failure(TW_EARG, "history: the time {} is not after {}", context_.text(now),
                       context_.text(step_.previous.value_or(context_.run.start)));
    Status status = plan_step(streams_, step_.previous, now);
    for (const Time assumed : {std::exchange(step_.refused, now), step_.assumed}) {
        if (status.ok() || assumed <= step_.previous.value_or(context_.run.start) ||
            assumed >= now || !plan_step(streams_, assumed, now).ok())
            continue;
        skip_to(assumed);
        status = plan_step(streams_, step_.previous, now);
    }
    if (!status.ok()) return status;
    waiting_.clear();
    for (const auto& stream : streams_) {
        stream->begin_step();
        if ((stream->step().used() || stream->step().is_due()) && waits(*stream))
            waiting_.push_back(stream.get());
    }
    const auto wants = [](const SampleTaker* taker) { return taker->wants(); };
    for (Field& field : declared_.fields())
        field.wanted =
            std::ranges::any_of(field.users, wants) || std::ranges::any_of(field.weighed, wants);
    for (const PickGroup& group : waiting_groups({}))
        for (Field* field : group.shows) {
            field->examined = std::make_shared<StepValues>(field->part);
            field->wanted = 1;
        }
    // A computed field follows those from which it is computed.
    for (Field& field : declared_.fields() | std::views::reverse)
        if (field.computed && field.wanted != 0) field.computed->begin_step();
    step_.now = now;
    step_.open = true;
    saved_ = false;
    return {};
}

/// Notes that what was sent of a field in this step cannot be used.
static void fail_samples(Field& field, const Status& why) {
    for (SampleTaker* user : field.users)
        if (user->wants()) user->fail(why);
    for (Field* result : field.feeds)
        if (result->wanted != 0) fail_samples(*result, why);
}

Status History::send(Field& field, std::span<const SentBox> boxes, bool whole, tw_type type,
                     const double* weight) {
    const std::string& name = field.name;
    if (!step_.open)
        return failure(TW_ESTATE, "field '{}' was sent before tw_history_time", OfVariable{name});
    if (field.wanted == 0) return {};
    if (type != field.type)
        return failure(TW_ETYPE, "field '{}' was declared with type {}, but {} was sent",
                       OfVariable{name}, detail::name_of(field.type), detail::name_of(type));
    if (weight != nullptr && (!std::isfinite(*weight) || *weight < 0))
        return failure(TW_EARG, "field '{}': the weight {} is negative or not finite",
                       OfVariable{name}, *weight);
    const int all = whole ? 1 : field.part.boxes;
    if (whole ? field.boxes_sent > 0
              : field.boxes_sent >= all || field.sent_boxes[boxes.front().box])
        return failure(TW_ESTATE, "field '{}' was sent twice in the step of {}", OfVariable{name},
                       context_.text(step_.now));
    const bool first = field.boxes_sent == 0;
    const bool last = whole || field.boxes_sent + 1 == all;
    for (SampleTaker* user : field.users)
        if (user->wants())
            if (Status status = user->weights.check(name); !status.ok()) return status;
    field.boxes_sent = whole ? std::max(field.part.boxes, 1) : field.boxes_sent + 1;
    if (!whole) field.sent_boxes[boxes.front().box] = true;
    if (field.examined) field.examined->take(boxes, detail::size_of(type), false);
    for (SampleTaker* taker : field.weighed)
        if (taker->wants()) taker->weights.take(boxes, last);
    for (SampleTaker* user : field.users)
        if (user->wants()) user->take(boxes, weight, step_.now, first, last);
    return field.feeds.empty() ? Status{} : feed(field, boxes, whole, last, weight);
}

/// Keeps what was sent of a field from which others are computed, and computes those that wait for
/// no other field.
Status History::feed(Field& field, std::span<const SentBox> boxes, bool whole, bool last,
                     const double* weight) {
    std::vector<Field*> wanted;
    std::ranges::copy_if(field.feeds, std::back_inserter(wanted), &Field::wanted);
    const bool now = whole && std::ranges::none_of(wanted, [](const Field* result) {
                         return result->computed->waiting() > 1;
                     });
    if (!wanted.empty()) field.step->take(boxes, detail::size_of(field.type), now);
    Status status;
    for (Field* result : wanted) {
        if (!last || !result->computed->note(weight)) continue;
        std::vector<SentBox> computed;
        Status own;
        if (!result->computed->differs())
            own = result->computed->compute(computed);
        else
            own =
                failure(TW_EARG, "'{}': its fields were sent with different weights", result->name);
        if (own.ok())
            own = send(*result, computed, true, result->type, weight);
        else
            fail_samples(*result, own);
        keep_first(status, std::move(own));
    }
    return status;
}

void History::skip_to(Time time) {
    for (const auto& stream : streams_)
        if (!stream->plan_step(step_.previous, time).ok() || stream->step().is_due())
            drop_records({{stream.get(), {}}});
    step_.length = time - step_.previous.value_or(context_.run.start);
    step_.previous = time;
}

/// Ends a step whose time was refused, or was not set. Other ranks may have a record to write now,
/// if the step is as long as the last one. They learn here why the record is lost; and this rank
/// learns their time.
Status History::end_lost_step() {
    const Status lost = std::exchange(step_.lost, Status{});
    std::optional<Time> from = step_.previous;
    if (step_.assumed > from.value_or(context_.run.start)) from = step_.assumed;
    step_.assumed =
        from.value_or(context_.run.start) + (step_.length > 0 ? step_.length : context_.run.step);
    bool due = !knows_length();
    for (const auto& stream : streams_)
        due |= knows_length() && stream->plan_step(from, step_.assumed).ok() &&
               (stream->step().is_due() || stream->meets() ||
                (stream->step().used() && waits(*stream)));
    if (!due) return lost;
    Time reached = 0;
    Status status = ranks_.agree(lost, never, {}, &reached);
    if (reached > step_.previous.value_or(context_.run.start)) skip_to(reached);
    return status;
}

static std::vector<Due> find_due(const Streams& streams) {
    std::vector<Due> due;
    for (const auto& stream : streams) {
        const Step& step = stream->step();
        for (const StepPart& part : step.before)
            if (part.ends) due.push_back({stream.get(), part.window, part.window.number});
        if (step.ends) due.push_back({stream.get(), step.window});
    }
    return due;
}

Status History::end_step() {
    if (!broken_.ok()) {
        step_.open = false;
        return broken_;
    }
    if (!step_.open) {
        keep_first(
            step_.lost,
            failure(TW_ESTATE, "history: tw_history_end_step was called before tw_history_time"));
        return declared_.ended() ? end_lost_step() : std::exchange(step_.lost, Status{});
    }
    const std::vector<Due> due = find_due(streams_);
    for (Field& field : declared_.fields()) {
        if (field.boxes_sent > 0 && field.boxes_sent < field.part.boxes) {
            if (field.examined) field.examined->clear();
            fail_samples(field,
                         failure(TW_EMISSING, "field '{}': rank {} has sent {} of its {} boxes",
                                 OfVariable{field.name}, OfRank{ranks_.rank()}, field.boxes_sent,
                                 field.part.boxes));
        }
        field.boxes_sent = 0;
        std::fill(field.sent_boxes.begin(), field.sent_boxes.end(), false);
        field.wanted = 0;
    }
    Status reduced = reduce_samples();
    for (Variable* variable : variables_of(streams_)) variable->samples.end_step();
    step_.open = false;
    // A rank whose time was refused cannot know if this step has records.
    Status status =
        !reduced.ok() || knows_length() ? std::move(reduced) : ranks_.agree({}, step_.now, {});
    step_.length = step_.now - step_.previous.value_or(context_.run.start);
    step_.previous = step_.now;
    if (status.ok() && !waiting_.empty()) status = settle_land(due);
    if (due.empty()) return status;
    // If an agreement has failed, a rank whose time was refused has ended the step.
    if (status.ok()) return records_.write(due, step_.now);
    drop_records(due);
    return status;
}

/// Returns the windows that are open when the history ends and are to be written; warns of others.
std::vector<Due> History::find_open() {
    std::vector<Due> due;
    if (!step_.previous) return due;
    for (const auto& stream : streams_) {
        std::optional<Window> inner;
        const auto window = open_window(stream->rules(), *step_.previous, inner);
        if (!window) continue;
        if (stream->table().every == Every::run || stream->table().write_open) {
            for (const auto& variable : stream->variables()) {
                (void)open_window(variable->rules, *step_.previous, inner);
                if (inner) variable->samples.end_inner(window->begin, inner->end);
            }
            due.push_back({stream.get(), *window});
        } else if (!saved_ && ranks_.rank() == 0) {
            detail::log::warn(
                "history: stream '{}': the window that begins at {} is not complete, and is not "
                "written (the last time was {}){}",
                stream->table().name, context_.text(window->begin), context_.text(*step_.previous),
                window->begin == stream->rules().begin() ? ". Are times in seconds since the start?"
                                                         : "");
        }
    }
    return due;
}

Status History::save(tw_restart restart) {
    if (!broken_.ok()) return broken_;
    const Status mine =
        step_.open ? failure(TW_ESTATE, "history: the step has not ended") : Status{};
    Status status = saved_state_.save(restart, mine, step_.previous);
    saved_ = status.ok();
    return status;
}

Status History::load(tw_file file) {
    Status mine = broken_;
    if (mine.ok() && (!declared_.ended() || step_.open || step_.previous))
        mine = failure(TW_ESTATE,
                       "history: tw_history_load belongs between tw_history_ready and the first "
                       "tw_history_time");
    const auto make = [&](const auto& changed) { return make_again(changed); };
    Status status =
        saved_state_.load(file, std::move(mine), make, records_, step_.previous, broken_);
    saved_ = saved_ || status.ok();
    return status;
}

Status History::close() {
    const std::array<std::int64_t, 3> times{step_.open, step_.now, step_.previous.value_or(-1)};
    Status status =
        ranks_.agree({}, static_cast<std::int64_t>(detail::hash_of_words(times, 0)), {});
    if (status.ok()) status = broken_;
    if (status.ok()) {
        if (step_.open) status = end_step();
        const std::vector<Due> due = broken_.ok() ? find_open() : std::vector<Due>{};
        waiting_.clear();
        for (const Due& one : due)
            if (waits(*one.stream)) waiting_.push_back(one.stream);
        Status settled = waiting_.empty() ? Status{} : settle_land(due);
        if (!due.empty() && settled.ok()) settled = records_.write(due, step_.now);
        keep_first(status, std::move(settled));
    }
    for (Output* output : outputs_of(streams_)) keep_first(status, output->close(false));
    for (Taken& taken : choices_.all())
        for (tw_decomposition* d : {&taken.target, &taken.restart})
            if (*d != nullptr) (void)tw_free_decomposition(d);
    return ranks_.agree(status, 0, {});
}

}  // namespace thalweg::history
