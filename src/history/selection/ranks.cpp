// SPDX-License-Identifier: Apache-2.0
#include "history/selection/ranks.hpp"

#include "session/calls.hpp"

namespace thalweg::history {

Status read_text(tw_session session, const std::string& path, std::string& text) {
    std::vector<char> content;
    Status status = detail::read_on_root(session->team->world(), path, content);
    text.assign(content.begin(), content.end());
    return status;
}

/// Runs a collective part of the present call, and measures its time.
template <class Act>
Status Ranks::measured(Act&& act) const {
    const detail::Stopwatch watch(session_->telemetry.history_calls);
    return status(detail::guarded(
        session_, [&] { return detail::status_of(act); }, name_of(call_)));
}

int Ranks::rank() const { return session_->rank; }

int Ranks::size() const { return session_->team->size(); }

Status Ranks::agree(const Status& mine, std::int64_t detail, std::span<std::int64_t> any,
                    std::int64_t* most) {
    std::int64_t largest = detail;
    Status agreed = measured([&] {
        return enter(session_, call_, "", mine, detail, {any, {&largest, 1}, {}});
    });
    detail::tell(most, largest);
    return agreed;
}

Status Ranks::reduce(std::span<std::int64_t> words, detail::Reduce by) {
    if (words.empty()) return {};
    return measured([&] { session_->team->all_reduce(words, by); });
}

Status Ranks::exchange(std::vector<detail::Packet>& packets) {
    return measured([&] {
        bool have = true;
        packets = session_->team->world().exchange(packets, have);
        return have ? Status{} : detail::out_of_memory();
    });
}

Status Ranks::read(const std::string& path, std::string& text) {
    return measured([&] { return read_text(session_, path, text); });
}

Status Ranks::status(tw_status code) const {
    if (code == TW_OK) return {};
    Status failed{code, tw_error_message(session_)};
    detail::ErrorLocation& place = failed.place;
    const char *file = "", *variable = "";
    if (tw_error_place(session_, &file, &variable, &place.record, &place.rank) == TW_OK) {
        place.file = file;
        place.variable = variable;
    }
    return failed;
}

}  // namespace thalweg::history
