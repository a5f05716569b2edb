// SPDX-License-Identifier: Apache-2.0
#include "choose/room.hpp"

#include <algorithm>
#include <array>

#include "base/free_memory.hpp"
#include "base/processors.hpp"
#include "comm/launcher.hpp"

namespace thalweg::detail {

namespace {

/// What this process finds out by itself.
struct Found {
    ProcessorMask own{};
    std::int64_t quota = 0, neighbours = 0, memory = 0;
};

}  // namespace

Room find_room(Team& team, std::int64_t queue) {
    Found found;
    // Where there is no memory even for this, there is no room.
    (void)alone([&]() -> Status {
        found = {own_processors(), processor_quota(), processes_of_node(), free_memory().bytes};
        return {};
    });
    ProcessorMask node = found.own;
    const std::int64_t threads = model_threads();
    std::array<std::int64_t, 2> sums{threads, queue};
    team.node().all_reduce(node, Reduce::bit_or);
    team.node().all_reduce(sums, Reduce::sum);
    const std::int64_t busy = std::max(sums[0], found.neighbours * threads);
    const std::int64_t usable = std::min<std::int64_t>(count(node), found.quota);
    std::array<std::int64_t, 4> least{usable - busy, count(found.own) - threads,
                                      found.memory - sums[1], -sums[1]};
    team.all_reduce(least, Reduce::min);
    Room room;
    room.processors = std::max<std::int64_t>(0, least[0]);
    room.bound = least[1] < 1;
    room.queues = -least[3];
    room.memory = least[2] > INT64_MAX - room.queues ? INT64_MAX : least[2] + room.queues;
    return room;
}

}  // namespace thalweg::detail
