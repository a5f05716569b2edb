// SPDX-License-Identifier: Apache-2.0
#include "exchange/slots.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/waiting.hpp"

namespace thalweg::detail {

Status cut_memory(Team& team, const Memory& arena, const StreamOptions& options,
                  const SlotNeeds& needs, std::int64_t streams, Status mine,
                  const std::function<void(std::int64_t)>& prepare, Slots& slots) {
    // MPI counts, and the words in slots, have 32 bits.
    constexpr std::int64_t largest = std::int64_t(1) << 30;
    constexpr std::int64_t line = 64;
    const std::int64_t room = std::min<std::int64_t>(options.budget, arena.size()) - needs.controls;
    const std::int64_t piece =
        options.piece > 0 ? std::max(options.piece, needs.smallest) : needs.piece;
    std::int64_t count = needs.count;
    const auto fitting = [&] {
        return streams == 0 ? piece
                            : (room / (streams * count) - needs.margin) / needs.unit * needs.unit;
    };
    while (count > 4 && fitting() < piece) count = std::max<std::int64_t>(4, count / 2);
    if (fitting() < 4096 && count > 2) count = 2;
    const std::int64_t most = std::min({piece, fitting(), largest});
    if (mine.ok()) mine = catch_errors([&] { prepare(std::max<std::int64_t>(most, 0)); });
    std::int64_t agreed[3] = {most, count, mine.ok() ? 1 : 0};
    team.all_reduce(agreed, Reduce::min);
    if (agreed[2] == 0) return detail::agree(team.world(), mine);
    slots.piece = agreed[0];
    slots.count = needs.alike ? agreed[1] : count;
    if (slots.piece < needs.smallest)
        return detail::agree(team.world(),
                             failure(TW_ENOMEM,
                                     "{} bytes of exchange buffers per node are not enough for {} "
                                     "streams of {} slots; increase the setting 'buffer'",
                                     options.budget, streams, slots.count));
    slots.capacity = (slots.piece + needs.margin + line - 1) / line * line;
    while (streams > 0 && slots.capacity * streams * slots.count > room) slots.capacity -= line;
    slots.memory = arena.data() + needs.controls;
    return {};
}

void wait_beyond(Futex& word, std::int64_t k, const char* what, double& seconds, Team& team) {
    std::uint32_t value = word.load(std::memory_order_acquire);
    if (value > k) return;
    const Waiting others(what);
    Stopwatch watch(seconds);
    do {
        team.wait_while(word, value);
        value = word.load(std::memory_order_acquire);
    } while (value <= k);
}

}  // namespace thalweg::detail
