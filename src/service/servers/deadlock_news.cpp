// SPDX-License-Identifier: Apache-2.0
#include "service/servers/deadlock_news.hpp"

#include "base/clock.hpp"

namespace thalweg::detail {

void DeadlockNews::take(const Message& message, UnitWriterSources& sources) {
    const auto deadlock = WireReader(message.body).get<Deadlock>();
    sources.learn(deadlock);
    // Pass on a server's news at once: that server has waited before it sent them. A rank's news
    // are passed on later, by spread().
    if (!place_.server_roles.serves(message.from) || !deadlock.beyond(sent_)) return;
    sent_ = deadlock;
    place_.spread(message.kind, file_, message.body, message.from);
}

void DeadlockNews::spread(const UnitWriterSources& sources) {
    constexpr double patience = 0.25;  // s
    if (place_.server_roles.nodes() == 1) return;
    const Deadlock seen = sources.deadlock();
    if (!seen.beyond(sent_)) return;
    if (seen.call != seen_.call || seen.unit != seen_.unit) {
        seen_ = seen;
        seen_at_ = now();
    }
    if (now() - seen_at_ < patience) return;
    sent_ = seen;
    place_.spread(MessageKind::call, file_, message_of(seen), -1);
}

}  // namespace thalweg::detail
