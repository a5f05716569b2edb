// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/write_lane.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/work.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t line = 64;

std::int64_t bytes_of_groups(std::int64_t groups) {
    return (groups * std::int64_t{sizeof(Futex)} + line - 1) / line * line;
}

}  // namespace

std::int64_t WriteControl::bytes(std::int64_t slots, std::int64_t groups) {
    return line + slots * std::int64_t{sizeof(Slot)} + bytes_of_groups(groups);
}

std::int64_t WriteControl::most_groups(std::int64_t memory, std::int64_t lanes) {
    return std::clamp<std::int64_t>(memory / 256 / std::max<std::int64_t>(1, lanes), 16, 1024);
}

WriteLane::WriteLane(Team& team, int of_writer, int of_rank, StreamCounts& counts)
    : writer(of_writer), rank(of_rank), team_(&team), waited_(&counts.wait) {
    const Topology& topology = team.topology();
    local = topology.node_of[rank] == topology.node;
    mine =
        local ? rank == team.rank() : writer % std::ssize(topology.members) == topology.node_rank;
}

void WriteLane::place(char* control, std::int64_t groups, const Slots& slots) {
    control_.joined = reinterpret_cast<Futex*>(control);
    control_.slots = reinterpret_cast<WriteControl::Slot*>(control + line);
    control_.holders = reinterpret_cast<Futex*>(control_.slots + slots.count);
    control_.groups = groups;
    slots_ = slots;
    recent_.resize(slots.count);
}

void WriteLane::clear() {
    control_.joined->store(0, std::memory_order_relaxed);
    for (WriteControl::Slot& s : std::span(control_.slots, slots_.count)) {
        s.freed.store(0, std::memory_order_relaxed);
        s.packed.store(0, std::memory_order_relaxed);
        s.used.store(0, std::memory_order_relaxed);
    }
    for (Futex& holders : std::span(control_.holders, control_.groups))
        holders.store(0, std::memory_order_relaxed);
}

// Divides the pieces into groups, and finds the groups of which this rank packs something. Such a
// rank counts as a holder of all pieces of the group, so that a few words suffice for all pieces.
void WriteLane::begin_pass(Share of_pass, std::vector<Extent> wanted, const PiecePacker& packer) {
    share = std::move(of_pass);
    cursor_ = PieceCursor(share.space(), std::move(wanted), slots_.piece);
    Extent piece;
    for (pieces_ = 0; cursor_.next(piece);) ++pieces_;
    cursor_.rewind();
    group_ = std::max<std::int64_t>(1, (pieces_ + control_.groups - 1) / control_.groups);
    open_ = !local || !packer.fills_any(share);
    held_.clear();
    next_ = 0;
    std::size_t kept = 0;  // number of entries of held_ that are kept
    bool any = false;
    for (std::int64_t k = 0; cursor_.next(piece); ++k) {
        if (k % group_ == 0) {
            held_.resize(kept);
            any = false;
        }
        held_.push_back({k, piece, packer.bytes_near(share, piece)});
        any |= held_.back().bytes > 0;
        if (any) kept = held_.size();
    }
    held_.resize(kept);
    cursor_.rewind();
}

// Counts this rank as a holder of its groups. A lane without pieces counts no rank, because nobody
// waits there, and the rank that drains it may already have reset the words for the next pass.
void WriteLane::join() {
    if (pieces_ == 0) return;
    std::int64_t last = -1;
    for (const Held& h : held_)
        if (h.k / group_ != last) {
            last = h.k / group_;
            control_.holders[last].fetch_add(1, std::memory_order_relaxed);
        }
    charge_update(control_.joined);
    const std::uint32_t before = control_.joined->fetch_add(1, std::memory_order_acq_rel);
    if (before + 1 == members() && !mine) wake_all(*control_.joined);
}

void WriteLane::end_pass() { std::fill(recent_.begin(), recent_.end(), Extent{}); }

std::int64_t WriteLane::end() const {
    if (mine) return pieces_ + slots_.count;
    return held_.empty() ? 0 : held_.back().k + 1;
}

void WriteLane::advance(std::int64_t k) {
    Extent& recent = recent_[k % slots_.count];
    if (!cursor_.next(recent)) recent = {};
}

const WriteLane::Held* WriteLane::held(std::int64_t k) {
    if (next_ == held_.size() || held_[next_].k != k) return nullptr;
    return &held_[next_++];
}

bool WriteLane::is_free(std::int64_t k) const {
    if (open_ && k < slots_.count) return true;
    return words(k).freed.load(std::memory_order_acquire) > k / slots_.count;
}

void WriteLane::release(std::int64_t k) {
    if (open_ && k < slots_.count) return;
    WriteControl::Slot& slot = words(k);
    slot.packed.store(0, std::memory_order_relaxed);
    slot.used.store(0, std::memory_order_relaxed);
    slot.freed.store(k / slots_.count + 1, std::memory_order_release);
    if (members() > 1) wake_all(slot.freed);
}

void WriteLane::wait_free(const Held& held, std::int64_t reach) {
    if (is_free(held.k)) return;
    constexpr std::int64_t worth_a_wake_up = 256 << 10;
    std::int64_t last = held.k, bytes = held.bytes;
    // Wait for several pieces, at most up to the next multiple of `reach`, so that the writer wakes
    // many ranks at once instead of some at each piece.
    const std::int64_t end = (held.k / reach + 1) * reach;
    for (std::size_t i = next_; i < held_.size() && held_[i].k < end; ++i) {
        if (bytes >= worth_a_wake_up) break;
        last = held_[i].k;
        bytes += held_[i].bytes;
    }
    wait_beyond(words(last).freed, last / slots_.count, "the writer to free a slot", *waited_,
                *team_);
}

char* WriteLane::take_room(std::int64_t k, std::int64_t bytes) {
    return slot(k) + words(k).used.fetch_add(bytes, std::memory_order_acq_rel);
}

void WriteLane::announce(std::int64_t k) {
    Futex& packed = words(k).packed;
    charge_update(&packed);
    const std::uint32_t before = packed.fetch_add(1, std::memory_order_acq_rel);
    // The last holder sees that all other holders have entered, as each enters before it packs.
    const std::uint32_t holders = control_.holders[k / group_].load(std::memory_order_relaxed);
    if (before + 1 == holders && !mine) wake_all(packed);
}

std::int64_t WriteLane::wait_packed(std::int64_t k) {
    constexpr const char* what = "the node's ranks to pack";
    wait_beyond(*control_.joined, members() - 1, what, *waited_, *team_);
    const std::int64_t group = (k - slots_.count) / group_;
    const std::int64_t holders = control_.holders[group].load(std::memory_order_relaxed);
    wait_beyond(words(k).packed, holders - 1, what, *waited_, *team_);
    return words(k).used.load(std::memory_order_acquire);
}

}  // namespace thalweg::detail
