// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/unit_sources.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "exchange/pack/dense.hpp"

namespace thalweg::detail {

const char* UnitSource::descriptor(std::int64_t unit) const {
    const std::int64_t at =
        Region::of(*region).unit_at[unit % Region::max_units].load(std::memory_order_relaxed);
    return Region::data(*region) + at;
}

bool UnitSource::waits() const {
    return Region::of(*region).waiting.load(std::memory_order_acquire) != 0;
}

void UnitWriterSources::add_region(std::unique_ptr<Segment> memory) {
    UnitSource source;
    source.holdings = PackedBoxes(Region::holdings(*memory), definitions_.variables);
    source.region = std::move(memory);
    all_.push_back(std::move(source));
}

void UnitWriterSources::add_sender(int rank) { all_.emplace_back().rank = rank; }

void UnitWriterSources::deliver(int sender, std::vector<char> message) {
    const std::lock_guard lock(small_);
    waiting_ += std::ssize(message);
    for (UnitSource& s : all_)
        if (!s.region && s.rank == sender) s.messages.push_back(std::move(message));
}

void UnitWriterSources::learn(const Deadlock& deadlock) {
    const std::lock_guard lock(small_);
    elsewhere_.take(deadlock);
}

Deadlock UnitWriterSources::deadlock() const {
    const std::lock_guard lock(small_);
    return find_deadlock();
}

Status UnitWriterSources::failure() const {
    for (const UnitSource& s : all_)
        if (s.region)
            if (Status status = Region::of(*s.region).failure(); !status.ok()) return status;
    return {};
}

void UnitWriterSources::fail(const Status& status) const {
    for (const UnitSource& s : all_)
        if (s.region) Region::of(*s.region).fail(status);
}

void UnitWriterSources::tell_rounds(std::int64_t rounds) const {
    for (const UnitSource& s : all_)
        if (s.region)
            Region::of(*s.region).rounds[local_writer_].store(rounds, std::memory_order_release);
}

/// Tests if a source has a next unit. Requires small_ to be locked.
bool UnitWriterSources::has(const UnitSource& source) const {
    if (!source.region) return !source.messages.empty();
    const Region& region = Region::of(*source.region);
    return whole_count(region.published.load(std::memory_order_acquire), source.next) > source.next;
}

std::optional<UnitKind> UnitWriterSources::next_kind(const UnitSource& source) const {
    const std::lock_guard lock(small_);
    return kind(source);
}

/// Requires small_ to be locked.
std::optional<UnitKind> UnitWriterSources::kind(const UnitSource& source) const {
    if (!has(source)) return {};
    if (source.region) return head_of(source.descriptor(source.next)).kind;
    // A message that is empty has nothing for this writer; those of boxes are not sent then.
    const std::vector<char>& message = source.messages.front();
    return message.empty() ? UnitKind::step : head_of(message).kind;
}

UnitWriterSources::Presence UnitWriterSources::look() const {
    const std::lock_guard lock(small_);
    Presence found;
    for (const UnitSource& s : all_) {
        if (kind(s).value_or(UnitKind::boxes) != UnitKind::boxes) continue;
        found.all = false;
        found.near &= !s.region;
    }
    if (!found.all) tell_stuck();
    return found;
}

/// Requires small_ to be locked.
Deadlock UnitWriterSources::find_deadlock() const {
    Deadlock last = elsewhere_;
    for (const UnitSource& s : all_) {
        if (!s.region) continue;
        // Read this count before the units: a unit that the rank published before the call is then
        // seen.
        const std::uint32_t calls = Region::of(*s.region).calls.load(std::memory_order_acquire);
        if (!has(s)) last.take({s.next - s.boxes, calls});
    }
    return last;
}

/// Informs the ranks of this node that wait for room but cannot get any, as a deadlock keeps their
/// units from being taken. Requires small_ to be locked.
void UnitWriterSources::tell_stuck() const {
    constexpr auto order = std::memory_order_acquire;
    const Deadlock deadlock = find_deadlock();
    for (const UnitSource& s : all_) {
        if (!s.region || kind(s).value_or(UnitKind::boxes) == UnitKind::boxes) continue;
        Region& region = Region::of(*s.region);
        const std::uint32_t here = region.calls.load(order);
        if (deadlock.stops(s.next - s.boxes + 1, here) && region.waiting.load(order) != 0)
            region.stuck.store(here + 1, std::memory_order_release);
    }
}

/// Maps the pages of a rank's values. Page faults inside a write would keep the file locked for
/// other writers.
void UnitWriterSources::map_pages(UnitSource& source, std::span<const PackedValues> values) const {
    std::int64_t end = source.mapped, begin = source.copies_begin, copies_end = source.copies_end;
    for (const PackedValues& e : values) {
        const std::int64_t size = definitions_.variables[e.variable].element();
        const std::int64_t bytes = elements_of(e.held) * size;
        if (e.at >= 0) {
            end = std::max(end, e.at + bytes);
        } else {
            begin = std::min(begin, ~e.at);
            copies_end = std::max(copies_end, ~e.at + bytes);
        }
    }
    if (end > source.mapped)
        source.region->map(Region::data_at + source.mapped, end - source.mapped);
    if (begin < source.copies_begin || copies_end > source.copies_end) {
        const std::int64_t from = begin < source.copies_begin ? begin : source.copies_end;
        copies_->map(from, copies_end - from);
    }
    source.mapped = end;
    source.copies_begin = begin;
    source.copies_end = copies_end;
}

void UnitWriterSources::open(UnitSource& source, std::vector<UnitPart>& unit_parts) const {
    if (source.region) {
        unit_parts.push_back(parse_unit_part(
            source.descriptor(source.next), Region::data(*source.region), definitions_.variables,
            source.holdings, copies_ != nullptr ? copies_->data() : nullptr));
        map_pages(source, unit_parts.back().entries);
        return;
    }
    const std::lock_guard lock(small_);
    auto its = parse_message(source.messages.front(), definitions_.variables);
    std::move(its.begin(), its.end(), std::back_inserter(unit_parts));
}

bool UnitWriterSources::take(UnitSource& source) {
    if (source.region) {
        if (head_of(source.descriptor(source.next)).kind == UnitKind::boxes) ++source.boxes;
        ++source.next;
        Futex& done = Region::of(*source.region).done[local_writer_];
        done.store(source.next, std::memory_order_release);
        wake_all(done);
        return false;
    }
    ++source.next;
    const std::lock_guard lock(small_);
    waiting_ -= std::ssize(source.messages.front());
    source.messages.pop_front();
    return true;
}

}  // namespace thalweg::detail
