// SPDX-License-Identifier: Apache-2.0
#include "choose/room.hpp"

#include <algorithm>

#include "base/system/free_memory.hpp"
#include "comm/launcher.hpp"

namespace thalweg::detail {

FreeProcessors find_processors(Team& team) {
    const ProcessorMask own = own_processors();
    const std::int64_t quota = processor_quota(), neighbours = processes_of_node();
    const std::int64_t threads = model_threads();
    RowOfWords node;
    std::copy(own.begin(), own.end(), node.any.begin());
    node.sums[0] = threads;
    team.reduce_on_node(node.words(), Reduce::row);
    ProcessorMask usable{};
    std::copy_n(node.any.begin(), usable.size(), usable.begin());
    const std::int64_t busy = std::max(node.sums[0], neighbours * threads);
    const std::int64_t free = std::min<std::int64_t>(count(usable), quota) - busy;
    return {static_cast<int>(std::max<std::int64_t>(0, free)), count(own) - threads < 1};
}

RankResources::RankResources(const Team& team, std::int64_t queue,
                             const FreeProcessors& processors) {
    // Asking the system takes longer than all else that a rank does here, so one rank asks for all
    // of a node.
    const std::int64_t memory = team.topology().node_rank == 0 ? free_memory().bytes : INT64_MAX;
    most_ = {queue * std::ssize(team.topology().members), -memory, -processors.number,
             processors.bound ? 1 : 0};
    sums_ = {queue};
}

NodeResources RankResources::room() const {
    NodeResources room;
    room.processors = static_cast<int>(-most_[2]);
    room.bound = most_[3] != 0;
    // The queues of a node take at most as much as if all its ranks had the largest queue, and at
    // most the sum over all ranks.
    room.queues = std::min(most_[0], sums_[0]);
    room.memory = -most_[1];
    return room;
}

}  // namespace thalweg::detail
