// SPDX-License-Identifier: Apache-2.0
#include "comm/team.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "base/waiting.hpp"

namespace thalweg::detail {

struct Team::Control {
    alignas(64) Word arrived;
    alignas(64) Word complete;  ///< counts the rounds in which all of the node had arrived
    alignas(64) Word epoch;     ///< counts the rounds whose result is there
    alignas(64) Word turn;      ///< odd while a rank that is not the leader acts on the result
    alignas(64) std::int64_t result[row_words];
};

namespace {

void combine(std::int64_t* into, const std::int64_t* from, std::size_t n, Reduce op) {
    for (std::size_t i = 0; i < n; ++i) {
        switch (op) {
            case Reduce::sum: into[i] += from[i]; break;
            case Reduce::min: into[i] = std::min(into[i], from[i]); break;
            case Reduce::max: into[i] = std::max(into[i], from[i]); break;
            case Reduce::bit_or: into[i] |= from[i]; break;
        }
    }
}

}  // namespace

std::unique_ptr<Team> Team::make(std::unique_ptr<Comm> world, int node_size, Status& status) {
    std::unique_ptr<Team> team;
    const Status made = alone([&]() -> Status {
        team = std::make_unique<Team>();
        return {};
    });
    if (!world->all_have(made.ok())) throw NoMemoryAnywhere();
    team->world_ = std::move(world);
    Comm& all = *team->world_;
    team->node_ = all.split_shared();
    if (node_size > 0) {
        Comm& whole = *team->node_;
        const Status split = together([&]() -> Status {
            team->node_ = whole.split(whole.rank() / node_size, whole.rank());
            return {};
        });
        if (!all.all_have(split.ok())) throw NoMemoryAnywhere();
    }
    const auto share_control = [&] {
        Comm& node = *team->node_;
        const std::size_t members = node.size();
        team->memory_ = node.share(sizeof(Control) + members * row_words * sizeof(std::int64_t));
        std::int64_t have = team->memory_ ? 1 : 0;
        all.all_reduce({&have, 1}, Reduce::min);
        if (have == 0) team->memory_.reset();
        return have == 1;
    };
    if (!share_control()) {
        // Containers of their own may keep the ranks of a node apart.
        (void)alone([&]() -> Status {
            if (all.rank() == 0)
                log::warn("the ranks of a node cannot share memory: treating each rank as a node");
            return {};
        });
        const Status split = together([&]() -> Status {
            team->node_ = team->node_->split(team->node_->rank(), 0);
            return {};
        });
        if (!all.all_have(split.ok())) throw NoMemoryAnywhere();
        if (!share_control()) {
            status = no_shared_memory();
            return nullptr;
        }
    }
    Comm& node = *team->node_;
    team->leaders_ = all.split(node.rank() == 0 ? 0 : -1, all.rank());
    if (node.rank() == 0) new (team->memory_->data()) Control{};
    status =
        find_topology(all, node, team->leaders_.get(), team->row(0), row_words, team->topology_);
    return status.ok() ? std::move(team) : nullptr;
}

std::int64_t* Team::row(int place) const {
    return reinterpret_cast<std::int64_t*>(memory_->data() + sizeof(Control)) + place * row_words;
}

/// @param act  of the rank `actor`; null: there is none
void Team::reduce_row(std::span<std::int64_t> values, Reduce op, int actor, const Act* act) {
    auto& control = *reinterpret_cast<Control*>(memory_->data());
    const std::span<std::int64_t> result(control.result, values.size());
    const int members = node_->size();
    const std::size_t bytes = values.size_bytes();
    const std::uint32_t epoch = control.epoch.load(std::memory_order_acquire);
    const std::uint32_t complete = control.complete.load(std::memory_order_acquire);
    const std::uint32_t turn = control.turn.load(std::memory_order_acquire);
    std::memcpy(row(node_->rank()), values.data(), bytes);
    const bool last = control.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
                      static_cast<std::uint32_t>(members);
    const bool acts = act != nullptr && actor == rank();

    // On one node the last to arrive finishes the round, or the rank that acts; else the leader,
    // who talks to the others.
    const bool finishes = topology_.nodes > 1 ? node_->rank() == 0 : act != nullptr ? acts : last;
    if (last && !finishes) ring(control.complete);
    if (finishes) {
        if (!last) wait_while(control.complete, complete, world_.get());
        std::memcpy(control.result, row(0), bytes);
        for (int p = 1; p < members; ++p) combine(control.result, row(p), values.size(), op);
        if (topology_.nodes > 1 && act == nullptr) {
            leaders_->all_reduce(result, op);
        } else if (topology_.nodes > 1) {
            const int its_node = topology_.node_of[actor];
            leaders_->reduce(result, op, its_node);
            if (its_node == topology_.node && !acts) {  // it waits for its turn
                ring(control.turn);
                wait_while(control.turn, turn + 1, world_.get());
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
            wait_while(control.turn, turn, world_.get());
            (*act)(result);
            ring(control.turn);
        }
        wait_while(control.epoch, epoch, world_.get());
    }
    std::memcpy(values.data(), control.result, bytes);
}

void Team::all_reduce(std::span<std::int64_t> values, Reduce op) {
    if (size() == 1) return;
    const Waiting all("all ranks to agree");
    for (std::size_t i = 0; i < values.size(); i += row_words)
        reduce_row(values.subspan(i, std::min<std::size_t>(row_words, values.size() - i)), op, -1,
                   nullptr);
}

void Team::all_reduce(std::span<std::int64_t> values, Reduce op, int actor, const Act& act) {
    if (size() == 1) return act(values);
    const Waiting all("all ranks to agree");
    reduce_row(values, op, actor, &act);
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

}  // namespace thalweg::detail
