// SPDX-License-Identifier: Apache-2.0
#include "history/records.hpp"

#include "base/log.hpp"

namespace thalweg::history {

using detail::failure;

namespace {

/// Calls visit(variable, word, next word, Due::before) for each variable of the records that are
/// due. `words` has two words for each variable.
template <class Words, class Visit>
void for_words(const std::vector<Due>& due, Words&& words, Visit&& visit) {
    std::size_t at = 0;
    for (const Due& one : due)
        for (const auto& variable : one.stream->variables()) {
            visit(*variable, words[at], words[at + 1], one.before);
            at += 2;
        }
}

std::string quoted_list(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "'" : ", '") + name + "'";
    return list;
}

}  // namespace

Status Records::write(const std::vector<Due>& due, Time now) {
    Status status = check_samples(due, now);
    if (status.ok()) status = write_records(due);
    drop_records(due);
    return status;
}

Status Records::write_records(const std::vector<Due>& due) {
    Status status;
    std::vector<std::int64_t> waits;  // a rank's values of the record may wait in the file
    for (const Due& one : due) keep_first(status, write_record(one));
    for (const Due& one : due)
        for (const auto& output : one.stream->outputs()) waits.push_back(output->values_wait());
    status = ranks_.agree(status, 0, waits);
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
            variable->samples().end_record(one.before);
}

/// Checks that all required variables were sent, and with the same samples on all ranks.
Status Records::check_samples(const std::vector<Due>& due, Time now) {
    Status mine;
    std::vector<std::int64_t> words;
    for (const Due& one : due)
        for (const auto& variable : one.stream->variables()) {
            const RecordSamples samples = variable->samples().record(one.before);
            words.push_back(variable->held() ? samples.log : 0);
            words.push_back(variable->held() ? ~samples.log : 0);
            keep_first(mine, samples.failure);
        }
    if (Status status = ranks_.agree(mine, now, words); !status.ok()) return status;
    if (Status status = find_differences(due, words); !status.ok()) return status;
    return check_unsent(due, words, now);
}

/// Finds variables whose samples differ between ranks.
/// @note Collective if there are any
Status Records::find_differences(const std::vector<Due>& due, std::span<const std::int64_t> words) {
    bool alike = true;
    Status mine;
    const auto find_unsent = [&](const Variable& variable, std::int64_t all, std::int64_t none,
                                 bool before) {
        if ((all & none) == 0) return;
        alike = false;
        const std::string& name = variable.field().declared.name;
        if (variable.held() && variable.samples().record(before).log == 0)
            keep_first(mine,
                       failure(TW_EMISSING, "field '{}' was sent by some ranks, but not by rank {}",
                               OfVariable{name}, OfRank{ranks_.rank()}));
    };
    for_words(due, words, find_unsent);
    if (alike) return {};
    if (Status status = ranks_.agree(mine, 0, {}); !status.ok()) return status;
    for_words(due, words, [&](const Variable& variable, std::int64_t all, std::int64_t none, bool) {
        if ((all & none) != 0)
            keep_first(mine,
                       failure(TW_EMISMATCH,
                               "field '{}': the ranks have sent it at different times or with "
                               "different weights",
                               OfVariable{variable.field().declared.name}));
    });
    return mine;
}

/// Checks variables without samples; the result is the same on every rank.
Status Records::check_unsent(const std::vector<Due>& due, std::span<const std::int64_t> words,
                             Time now) {
    std::vector<std::string> never, unsent;
    sent_in_record_.clear();
    const auto check = [&](Variable& variable, std::int64_t all, std::int64_t none, bool before) {
        const std::string& name = variable.field().declared.name;
        if (all != 0 || none == 0) {
            variable.samples().set_ever();
            sent_in_record_.insert({&variable, before});
            return;
        }
        if (!variable.samples().record(before).wanted)
            return;  // no time of `hours` or `sample` lies in the window
        if (!variable.samples().ever()) {
            never.push_back(name);
            return;
        }
        unsent.push_back(name);
        if (!context_.table->unsent_error && ranks_.rank() == 0 && warned_.insert(name).second)
            detail::log::warn(
                "history: field '{}' was not sent in the window before {}; its record "
                "has the fill value",
                name, date_text(context_.run.calendar, now));
    };
    for_words(due, words, check);
    if (!never.empty()) return failure(TW_EMISSING, "history: never sent: {}", quoted_list(never));
    if (context_.table->unsent_error && !unsent.empty())
        return failure(TW_EMISSING, "history: not sent in the window before {}: {}",
                       date_text(context_.run.calendar, now), quoted_list(unsent));
    return {};
}

Status Records::write_record(const Due& due) {
    const auto& [stream_of, window, before] = due;
    Stream& stream = *stream_of;
    Status status;
    for (const auto& output : stream.outputs()) {
        if (!output->is_open()) keep_first(status, limit_open());
        keep_first(status, output->prepare(window));
        for (Variable* variable : output->variables()) {
            if (sent_in_record_.count({variable, before}) == 0) continue;
            const void* values = nullptr;
            Status result = variable->samples().result(before, values);
            if (result.code == TW_ERANGE)
                reword(result, "stream '{}': variable '{}': {}", stream.table().name,
                       OfVariable{variable->name()}, result.text);
            keep_first(status, result);
            keep_first(status, output->put(*variable, values));
        }
        keep_first(status, output->end_record(window));
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
