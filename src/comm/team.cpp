// SPDX-License-Identifier: Apache-2.0
#include "comm/team.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <new>

#include "base/log.hpp"
#include "base/system/processors.hpp"
#include "base/waiting.hpp"
#include "base/work.hpp"
#include "comm/segment.hpp"

namespace thalweg::detail {

/// Words in the node's memory. A round combines one row of words of each rank.
struct Team::Control {
    alignas(64) Futex arrived;  ///< number of ranks that have arrived in this round
    /// Incremented by the last rank to arrive, unless this rank also finishes the round.
    alignas(64) Futex complete;
    alignas(64) Futex epoch;  ///< number of rounds that have a result
    alignas(64) Futex turn;   ///< odd while a rank other than the leader acts on the result
    alignas(64) std::int64_t result[row_words];
};

namespace {

/// The parts of a node's memory: a control block, a row of words for each of its ranks, and the
/// tables of the topology, for as many nodes as there are ranks.
struct MemoryParts {
    MemoryParts(std::size_t control, std::size_t members, std::size_t ranks)
        : rows(control),
          tables(rows + members * Team::row_words * sizeof(std::int64_t)),
          bytes(tables + table_bytes(ranks, ranks)) {}
    std::size_t rows, tables, bytes;
};

/// Finds the ranks of this rank's node, and allocates memory that they share. If the ranks of a
/// node are in separate containers, each is a node of its own.
/// @return this rank's own failure
/// @note Collective over `all`
Status share_node(Comm& all, int node_size, std::size_t control, std::unique_ptr<Comm>& node,
                  std::shared_ptr<Memory>& memory) {
    node = all.split_shared();
    if (node_size > 0 && node_size < node->size())
        node = node->split(node->rank() / node_size, node->rank());
    const auto share = [&] {
        memory = node->share(MemoryParts(control, node->size(), all.size()).bytes);
    };
    share();
    if (!memory && node->size() > 1) {
        if (node->rank() == 0)
            log::warn("the ranks of a node cannot share memory: treating each rank as a node");
        node = node->split(node->rank(), 0);
        share();
    }
    return memory ? Status{} : no_shared_memory();
}

/// Tests if each rank of a node has its own processor, so that a rank that spins takes none from
/// the ranks that it waits for. If a rank may use only one processor, it is bound to it, and the
/// other ranks are assumed to be bound to processors of their own.
bool has_processor_of_its_own(int ranks) {
    const int own = count(own_processors());
    return ranks <= (own > 1 ? own : sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

std::unique_ptr<Team> Team::make(std::unique_ptr<Comm> world, int node_size, Status& status,
                                 Status mine) {
    auto team = std::make_unique<Team>();
    Comm& all = *world;
    Status shared = share_node(all, node_size, sizeof(Control), team->node_, team->memory_);
    if (mine.ok()) mine = std::move(shared);
    const bool one_node = team->node_->size() == all.size();
    if (!one_node) team->leaders_ = all.split(team->node_->rank() == 0 ? 0 : -1, all.rank());
    char* tables = nullptr;
    if (team->memory_) {
        const MemoryParts parts(sizeof(Control), team->node_->size(), all.size());
        if (team->node_->rank() == 0) new (team->memory_->data()) Control{};
        tables = team->memory_->data() + parts.tables;
    }
    status = find_topology(all, *team->node_, team->leaders_.get(), std::move(mine), team->memory_,
                           tables, team->topology_);
    if (!status.ok()) return nullptr;
    if (one_node) team->spare_ = std::exchange(world, std::move(team->node_));
    team->world_ = std::move(world);
    if (has_processor_of_its_own(team->node().size())) team->spin_ = 20e-6;
    return team;
}

std::unique_ptr<Comm> Team::duplicate() { return spare_ ? std::move(spare_) : world_->duplicate(); }

std::int64_t* Team::row(int place) const {
    return reinterpret_cast<std::int64_t*>(memory_->data() + sizeof(Control)) + place * row_words;
}

/// Combines at most a row of words.
/// @param several  true: over all nodes; false: over this node
/// @param act      called on rank `actor`; null: nothing is called
void Team::reduce_row(std::span<std::int64_t> values, Reduce op, bool several, int actor,
                      const Act* act) {
    auto& control = *reinterpret_cast<Control*>(memory_->data());
    const std::span<std::int64_t> result(control.result, values.size());
    const int place = node().rank(), members = node().size();
    const std::size_t bytes = values.size_bytes();
    const std::uint32_t epoch = control.epoch.load(std::memory_order_acquire);
    const std::uint32_t complete = control.complete.load(std::memory_order_acquire);
    const std::uint32_t turn = control.turn.load(std::memory_order_acquire);
    std::memcpy(row(place), values.data(), bytes);
    charge_update(&control.arrived);
    const bool last = control.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
                      static_cast<std::uint32_t>(members);
    const bool acts = act != nullptr && actor == rank();

    // On one node, the rank that acts finishes the round; if no rank acts, the last one to arrive
    // does. On several nodes, the leaders finish it, because they communicate with each other.
    const bool finishes = several ? place == 0 : act != nullptr ? acts : last;
    if (last && !finishes) ring(control.complete);
    if (finishes) {
        if (!last) wait_while(control.complete, complete);
        std::memcpy(control.result, row(0), bytes);
        for (int p = 1; p < members; ++p) combine(control.result, row(p), values.size(), op);
        if (several && act == nullptr) {
            leaders_->all_reduce(result, op);
        } else if (several) {
            const int its_node = topology_.node_of[actor];
            leaders_->reduce(result, op, its_node);
            // The leader waits until the actor has finished.
            if (its_node == topology_.node && !acts) {
                ring(control.turn);
                wait_while(control.turn, turn + 1);
            }
            if (acts) (*act)(result);
            leaders_->broadcast(control.result, bytes, its_node);
        } else if (acts) {
            (*act)(result);
        }
        control.arrived.store(0, std::memory_order_relaxed);
        ring(control.epoch);
    } else {
        if (acts) {
            wait_while(control.turn, turn);
            (*act)(result);
            ring(control.turn);
        }
        wait_while(control.epoch, epoch);
    }
    std::memcpy(values.data(), control.result, bytes);
}

void Team::all_reduce(std::span<std::int64_t> values, Reduce op) {
    constexpr std::size_t few = 1024;
    if (size() == 1) return;
    if (values.size() > few) return world_->all_reduce(values, op);
    const Waiting all("all ranks to agree");
    reduce_rows(values, op, topology_.nodes > 1);
}

void Team::reduce_on_node(std::span<std::int64_t> values, Reduce op) {
    if (node().size() == 1) return;
    const Waiting all("the ranks of the node");
    reduce_rows(values, op, false);
}

void Team::barrier_on_node() {
    std::int64_t nothing = 0;
    reduce_on_node({&nothing, 1}, Reduce::sum);
}

std::unique_ptr<Memory> Team::share_on_node(std::size_t bytes) {
    const auto unite = [&](std::span<std::int64_t> words) {
        reduce_on_node(words, Reduce::bit_or);
    };
    return share_segment(node().rank(), node().size(), bytes, std::ref(unite));
}

void Team::reduce_rows(std::span<std::int64_t> values, Reduce op, bool several) {
    for (std::size_t i = 0; i < values.size(); i += row_words)
        reduce_row(values.subspan(i, std::min<std::size_t>(row_words, values.size() - i)), op,
                   several, -1, nullptr);
}

void Team::all_reduce(std::span<std::int64_t> values, Reduce op, int actor, const Act& act) {
    if (size() == 1) return act(values);
    const Waiting all("all ranks to agree");
    reduce_row(values, op, topology_.nodes > 1, actor, &act);
}

void Team::barrier() {
    std::int64_t nothing = 0;
    all_reduce({&nothing, 1}, Reduce::sum);
}

Status Team::agree(const Status& mine) {
    std::int64_t failed = mine.ok() ? 0 : 1;
    all_reduce({&failed, 1}, Reduce::max);
    return failed ? detail::agree(*world_, mine) : Status{};
}

Status Team::broadcast_outcome(const Status& mine, std::vector<char>& bytes) {
    const auto broadcast = [&](std::vector<char>& told) {
        std::array<std::int64_t, row_words> words{};  // number of bytes, and the first of them
        const std::size_t most = sizeof words - sizeof words[0];
        if (rank() == 0) {
            words[0] = std::ssize(told);
            std::memcpy(&words[1], told.data(), std::min(most, told.size()));
        }
        all_reduce(words, Reduce::bit_or);
        const std::size_t size = words[0];
        if (size > most) return world_->broadcast(told, 0);
        told.resize(size);
        std::memcpy(told.data(), &words[1], size);
    };
    return outcome_of(*world_, mine, bytes, 0, std::ref(broadcast));
}

}  // namespace thalweg::detail
