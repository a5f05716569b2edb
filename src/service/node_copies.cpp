// SPDX-License-Identifier: Apache-2.0
#include "service/node_copies.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "base/system/free_memory.hpp"

namespace thalweg::detail {

namespace {

constexpr std::size_t page = 4096;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

/// Moves `at_` to where a block has room. @return false if there is none
bool StagingMemory::find_room(std::size_t size, std::size_t alignment) {
    const std::size_t used = given_back_.empty() ? first_ : given_back_.front().first;
    const bool behind = at_ < used;  // blocks are taken from the start again
    const std::size_t end = behind ? used - 1 : end_;
    const std::size_t at = rounded(at_, alignment), start = rounded(begin_, alignment);
    const bool fits = at <= end && end - at >= size;
    const auto has_room = [&](std::size_t wanted) { return !behind && start + wanted < used; };
    // Memory that is free again is used before more is touched. From the start, blocks have to end
    // before the oldest one in use, so begin again only if there is room for two steps.
    const bool again = at + size > touched_ && has_room(std::max(size, 2 * most_taken_));
    if (!again && !fits && !has_room(size)) return false;
    at_ = again || !fits ? start : at;
    return true;
}

void StagingMemory::free_written() {
    if (given_back_.empty()) return;
    const std::int64_t written = units_->written();
    std::erase_if(given_back_, [&](const Blocks& b) { return written >= b.units; });
}

char* StagingMemory::take(std::int64_t bytes, std::size_t alignment) {
    const std::size_t size = std::max<std::int64_t>(bytes, 1);
    free_written();
    if (!find_room(size, alignment)) {
        std::unique_ptr<char[]> block(new (std::nothrow) char[size]);
        if (!block) return nullptr;
        more_bytes_ += static_cast<std::int64_t>(size);
        more_.push_back({std::move(block), static_cast<std::int64_t>(size)});
        return more_.back().block.get();
    }
    if (at_ + size > touched_) {
        constexpr std::size_t least = std::size_t(1) << 20;  // fewer calls of the system
        const std::size_t end = std::min(end_, std::max(at_ + size, touched_ + least));
        if (!memory_->touch(touched_, end - touched_)) return nullptr;
        touched_ = end;
    }
    at_ += size;
    taken_ += size;
    return memory_->data() + at_ - size;
}

void StagingMemory::undo(const char* block) {
    if (!more_.empty() && more_.back().block.get() == block) {
        more_bytes_ -= more_.back().bytes;
        more_.pop_back();
    } else if (units_ == nullptr) {
        at_ = block - memory_->data();
    }
}

void StagingMemory::give_back() {
    more_.clear();
    more_bytes_ = 0;
    if (units_ != nullptr) {
        if (units_->refers()) return;  // all of it stays taken
        if (given_back_.size() == most_given_back)
            given_back_.back().units = units_->published();  // what follows belongs to these
        else if (at_ != first_)
            given_back_.push_back({first_, units_->published()});
    }
    most_taken_ = std::max(most_taken_, std::exchange(taken_, 0));
    first_ = at_;
    free_written();
    if (given_back_.empty()) first_ = at_ = begin_;
}

/// The copies of a rank that hold all its values of a variable and record, at the start of its
/// memory.
struct NodeCopies::Table {
    struct Entry {
        VariableRecord of;
        std::int64_t at;  ///< offset in the node's memory
    };
    static constexpr std::size_t most = 4096;
    std::size_t count;
    std::array<Entry, most> entries;
};

void NodeCopies::begin(Team& team, SessionResources& session, std::int64_t step_bytes,
                       std::int64_t part_bytes) {
    constexpr std::int64_t most = std::int64_t(1) << 30;
    place_ = team.topology().node_rank;
    part_bytes = std::min(part_bytes, most);
    step_bytes = std::min(step_bytes, most);
    const std::shared_ptr<NodeCopies> spare = std::move(session.spare_copies);
    const bool fits =
        spare && spare->step.size() >= step_bytes && spare->parts.size() >= part_bytes;
    // The ranks of a node must use the same memory.
    std::int64_t same[] = {fits ? spare->serial_ : 0, fits ? -spare->serial_ : 1};
    team.reduce_on_node(same, Reduce::max);
    if (same[0] > 0 && same[0] == -same[1]) {
        *this = std::move(*spare);
        return;
    }
    if (spare) spare->memory_.reset();
    serial_ = ++session.copies_made;
    const std::size_t list = rounded(sizeof(Table), page);
    const std::size_t before = list + rounded(step_bytes, page);
    size_ = before + rounded(part_bytes, page);
    // With strict accounting, all of the memory would be charged at once.
    const bool strict = place_ == 0 && free_memory().strict;
    memory_ = team.share_on_node(strict ? 0 : size_ * team.topology().members.size());
    if (!memory_) return;
    const std::size_t begin = place_ * size_;
    step.use(memory_.get(), begin + list, begin + before);
    parts.use(memory_.get(), begin + before, begin + size_);
}

void NodeCopies::keep(std::shared_ptr<NodeCopies> copies, SessionResources& session) {
    std::shared_ptr<NodeCopies>& spare = session.spare_copies;
    // The system cannot take back pages of shared memory while the model computes.
    constexpr std::int64_t most_kept = std::int64_t(256) << 20;
    if (!copies->memory_ || copies->step.serves() ||
        copies->step.bytes() + copies->parts.bytes() > most_kept ||
        (spare && spare->memory_->size() >= copies->memory_->size()))
        return;
    copies->step.give_back();
    copies->parts.give_back();
    spare = std::move(copies);
}

NodeCopies::Table& NodeCopies::table(int place) const {
    return *reinterpret_cast<Table*>(memory_->data() + place * size_);
}

bool NodeCopies::list(const Batch& batch) {
    if (!memory_) return false;
    const std::size_t most = std::min(batch.parts.size(), Table::most);
    if (!memory_->touch(place_ * size_, offsetof(Table, entries) + most * sizeof(Table::Entry)))
        return false;
    Table& own = table(place_);
    own.count = 0;
    for (const auto& [key, waiting] : batch.parts) {
        const WaitingPart& part = waiting.front();
        if (waiting.size() > 1 || !part.has_any()) continue;
        const std::int64_t at = part.packed - memory_->data();
        const bool inside = part.packed != nullptr && at >= 0 && std::cmp_less(at, memory_->size());
        if (!inside || own.count == Table::most) return false;
        own.entries[own.count++] = {{part.variable, part.record}, at};
    }
    return true;
}

const char* NodeCopies::find(int place, const VariableRecord& of) const {
    const Table& all = table(place);
    const std::span entries(all.entries.data(), all.count);
    const auto found = std::ranges::lower_bound(entries, of, {}, &Table::Entry::of);
    if (found == entries.end() || found->of != of) return nullptr;
    return memory_->data() + found->at;
}

}  // namespace thalweg::detail
