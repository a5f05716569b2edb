// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_news.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace thalweg::detail {

void ServerNews::take_report(const Message& message, Placement* placement) {
    WireReader in(message.body);
    rounds_[std::ranges::find(node_.below, message.from) - node_.below.begin()] =
        in.get<std::int64_t>();
    const auto placed = in.get_many<std::vector<char>>();
    if (node_.is_first() && placement != nullptr) return placement->add_placed(placed);
    placed_.insert(placed_.end(), placed.begin(), placed.end());
}

void ServerNews::report(FileRounds& rounds, Placement* placement) {
    std::int64_t all = INT64_MAX;
    for (const std::int64_t its : rounds_) all = std::min(all, its);
    if (node_.is_first()) return rounds.others_have(all);
    // Read the number of rounds first: when they are reported, the first server must know the
    // places of their chunks.
    all = std::min(all, rounds.done());
    if (placement != nullptr) {
        const std::vector<char> own = placement->take_placed();
        placed_.insert(placed_.end(), own.begin(), own.end());
    }
    if (all <= reported_ && placed_.empty()) return;
    reported_ = std::max(reported_, all);
    node_.transport.send(node_.above, MessageKind::report, file_, message_of(reported_, placed_));
    placed_.clear();
}

void ServerNews::take_call(const Message& message, UnitWriterSources& sources) {
    const auto deadlock = WireReader(message.body).get<Deadlock>();
    sources.learn(deadlock);
    // Pass on a server's news at once: that server has waited before it sent them. A rank's news
    // are passed on later, by spread_calls().
    if (!node_.server_roles.serves(message.from) || !deadlock.beyond(sent_)) return;
    sent_ = deadlock;
    node_.spread(message.kind, file_, message.body, message.from);
}

void ServerNews::spread_calls(const UnitWriterSources& sources) {
    constexpr double patience = 0.25;  // s
    if (node_.server_roles.nodes() == 1) return;
    const Deadlock seen = sources.deadlock();
    if (!seen.beyond(sent_)) return;
    if (seen.call != seen_.call || seen.unit != seen_.unit) {
        seen_ = seen;
        seen_at_ = now();
    }
    if (now() - seen_at_ < patience) return;
    sent_ = seen;
    node_.spread(MessageKind::call, file_, message_of(seen), -1);
}

}  // namespace thalweg::detail
