// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_reports.hpp"

#include <algorithm>

namespace thalweg::detail {

Status ServerReports::take(const Message& message, Placement* placement) {
    WireReader in(message.body);
    rounds_[place_.below_at(message.from)] = in.get<std::int64_t>();
    const auto placed = in.get_many<std::vector<char>>();
    if (place_.is_first() && !placed.empty()) return placement->add_placed(placed);
    placed_.insert(placed_.end(), placed.begin(), placed.end());
    return {};
}

void ServerReports::send(FileRounds& rounds, Placement* placement) {
    std::int64_t all = INT64_MAX;
    for (const std::int64_t its : rounds_) all = std::min(all, its);
    if (place_.is_first()) return rounds.others_have(all);
    // Read the number of rounds first: when they are reported, the first server must know the
    // places of their chunks.
    all = std::min(all, rounds.done());
    if (placement != nullptr) {
        const std::vector<char> own = placement->take_placed();
        placed_.insert(placed_.end(), own.begin(), own.end());
    }
    if (all <= reported_ && placed_.empty()) return;
    reported_ = std::max(reported_, all);
    with_reserve(
        [&] { place_.send_above(MessageKind::report, file_, message_of(reported_, placed_)); });
    placed_.clear();
}

}  // namespace thalweg::detail
