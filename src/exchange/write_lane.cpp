// SPDX-License-Identifier: Apache-2.0
#include "exchange/write_lane.hpp"

#include <algorithm>

namespace thalweg::detail {

WriteLane::WriteLane(Team& team, int of_writer, int of_rank, StreamCounts& counts)
    : writer(of_writer), rank(of_rank), team_(&team), waited_(&counts.wait) {
    const Topology& topology = team.topology();
    local = topology.node_of[rank] == topology.node;
    mine =
        local ? rank == team.rank() : writer % std::ssize(topology.members) == topology.node_rank;
}

void WriteLane::place(WriteControl* control, const Slots& slots) {
    control_ = control;
    slots_ = slots;
    recent_.resize(slots.count);
}

void WriteLane::clear() {
    control_->ready.store(0, std::memory_order_relaxed);
    for (WriteControl::Slot& s : control_->slots) {
        s.packed.store(0, std::memory_order_relaxed);
        s.used.store(0, std::memory_order_relaxed);
    }
}

void WriteLane::begin_pass(Share of_pass, std::vector<Extent> wanted) {
    share = std::move(of_pass);
    cursor_ = PieceCursor(share.space(), std::move(wanted), slots_.piece);
}

void WriteLane::end_pass() {
    std::fill(recent_.begin(), recent_.end(), Extent{});
    if (mine) control_->ready.store(0, std::memory_order_release);
}

std::int64_t WriteLane::count_pieces() {
    std::int64_t n = 0;
    for (Extent piece; cursor_.next(piece);) ++n;
    cursor_.rewind();
    return n;
}

bool WriteLane::advance(std::int64_t k) {
    Extent& recent = recent_[k % slots_.count];
    const bool had = recent.size() > 0;
    if (!cursor_.next(recent)) recent = {};
    return had || recent.size() > 0;
}

void WriteLane::release(std::int64_t k) {
    words(k).packed.store(0, std::memory_order_relaxed);
    words(k).used.store(0, std::memory_order_relaxed);
    control_->ready.store(k + 1, std::memory_order_release);
    if (team_->topology().members.size() > 1) wake_all(control_->ready);
}

void WriteLane::wait_free(std::int64_t k) {
    wait_beyond(control_->ready, k, "the writer to free a slot", *waited_, *team_);
}

char* WriteLane::take_room(std::int64_t k, std::int64_t bytes) {
    return slot(k) + words(k).used.fetch_add(bytes, std::memory_order_acq_rel);
}

void WriteLane::announce(std::int64_t k) {
    Word& packed = words(k).packed;
    const std::uint32_t before = packed.fetch_add(1, std::memory_order_acq_rel);
    if (before + 1 == team_->topology().members.size() && !mine) wake_all(packed);
}

std::int64_t WriteLane::wait_packed(std::int64_t k) {
    wait_beyond(words(k).packed, std::ssize(team_->topology().members) - 1,
                "the node's ranks to pack", *waited_, *team_);
    return words(k).used.load(std::memory_order_acquire);
}

}  // namespace thalweg::detail
