// SPDX-License-Identifier: Apache-2.0
#include "service/queue/desk.hpp"

#include <algorithm>
#include <new>

#include "comm/clock.hpp"
#include "comm/trace.hpp"
#include "service/queue/check_units.hpp"

namespace thalweg::detail {

Desk::Desk(const Definitions& definitions, const Spaces& spaces, std::unique_ptr<Layout> layout,
           int writer, Storage& storage, DeskOptions options, DeskHost& host)
    : definitions_(definitions),
      spaces_(spaces),
      layout_(std::move(layout)),
      writer_(writer),
      storage_(storage),
      placement_(storage.placement()),
      options_(std::move(options)),
      host_(host),
      sources_(definitions, options_.agent),
      composer_(definitions, spaces, *layout_, writer, storage, options_.piece, &host,
                options_.existing),
      records_(composer_.records()) {}

Status Desk::add_region(std::unique_ptr<Segment> memory) try {
    sources_.add_region(std::move(memory));
    return {};
} catch (const std::bad_alloc&) {
    return detail::failure(TW_ENOMEM, "{}: no memory for what the ranks hold (rank {})",
                           options_.path, options_.rank);
}

Status Desk::failure() const {
    {
        const std::lock_guard lock(small_);
        if (!failed_.ok()) return failed_;
    }
    return sources_.failure();
}

void Desk::fail(const Status& status) {
    {
        const std::lock_guard lock(small_);
        if (failed_.ok()) failed_ = status;
    }
    sources_.fail(status);
    host_.report();
}

WriteCounts Desk::counts() const {
    const std::lock_guard lock(small_);
    return counts_;
}

void Desk::take(DeskSource& source) {
    if (sources_.take(source)) host_.accepted(source.rank);
}

bool Desk::work() {
    const std::lock_guard lock(working_);
    return !retired_ && work_locked();
}

bool Desk::try_work() {
    const std::unique_lock lock(working_, std::try_to_lock);
    return lock.owns_lock() && !retired_ && work_locked();
}

void Desk::retire() {
    const std::lock_guard lock(working_);
    retired_ = true;
}

/// Nobody is there to catch what this throws; the ranks hear of it as of any failure.
bool Desk::work_locked() try {
    if (const Status status = failure(); !status.ok()) {
        pass_on(status);
        return discard();
    }
    const TraceFile file(options_.path);
    Span span("write unit");
    const double begin = now();
    bool worked = boxes_next() ? work_boxes() : work_units();
    worked |= settle();
    worked |= commit();
    if (worked)
        note_counts(now() - begin);
    else
        span.forget();
    return worked;
} catch (const std::bad_alloc&) {
    fail(detail::failure(TW_ENOMEM, "{}: out of memory (rank {})", options_.path, options_.rank));
    return true;
} catch (const std::exception& e) {
    fail(detail::failure(TW_EINTERNAL, "{}: internal error: {} (rank {})", options_.path, e.what(),
                         options_.rank));
    return true;
}

/// A failure that was found in a rank's memory is known on this node alone.
void Desk::pass_on(const Status& status) {
    {
        const std::lock_guard lock(small_);
        if (!failed_.ok()) return;
    }
    fail(status);
}

/// After a failure nothing is written, and nobody waits for anybody.
bool Desk::discard() {
    bool any = false;
    for (DeskSource& s : sources_)
        for (; sources_.has_next(s); any = true) take(s);
    return any;
}

/// What this node's ranks have for the round, to the other nodes. With boxes, a round may end steps
/// of some ranks while others wait at a mark; where all of this node do, the other nodes keep what
/// tells of it until all ranks are there.
/// @return false if it cannot go now
bool Desk::send_on(std::span<const Parcel> own) {
    const bool marks =
        std::all_of(own.begin(), own.end(), [](const Parcel& p) { return is_mark(p.head.kind); });
    const bool news = !marks || !marks_sent_;
    if (news && !host_.may_forward()) return false;
    ++forwarded_;
    if (news) host_.forward(own);
    marks_sent_ = marks;
    return true;
}

/// One unit of all ranks.
bool Desk::work_units() {
    const DeskSources::Presence there = sources_.look();
    if (!there.near) return false;
    // Units have come since, and boxes may be among them.
    if (boxes_next()) return true;
    std::vector<Parcel> parcels;
    for (DeskSource& s : sources_) {
        if (!s.region) continue;
        auto its = sources_.open(s);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    bool worked = false;
    if (host_.forwards() && forwarded_ == worked_) {
        if (!send_on(parcels)) return false;
        for (DeskSource& s : sources_)
            if (s.region) s.sent = s.next + 1;
        worked = true;
    }
    if (!there.all) return worked;
    for (DeskSource& s : sources_) {
        if (s.region) continue;
        auto its = sources_.open(s);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    // After a failure later records of the file are refused.
    if (failure().ok()) write_units(parcels);
    const bool mark = !parcels.empty() && is_mark(parcels.front().head.kind);
    if (mark) marks_sent_ = false;
    for (DeskSource& s : sources_) take(s);
    finish_round(mark);
    return true;
}

void Desk::write_units(std::span<const Parcel> parcels) {
    if (parcels.empty()) return;
    if (Status status =
            check_units(parcels, definitions_.variables, options_.path, options_.wording);
        !status.ok())
        return fail(status);
    Status status = composer_.write(parcels);
    if (status.ok() && placement_ != nullptr)
        status = placement_->end_unit(composer_.records(), false);
    write(std::move(status));
}

/// After a write.
void Desk::write(Status status) {
    if (status.ok() && options_.durable && placement_ == nullptr) status = storage_.sync();
    if (!status.ok()) status.text += fmt::format(" (rank {})", options_.rank);
    if (!status.ok()) fail(status);
}

/// @param seconds  of work
void Desk::note_counts(double seconds) {
    const std::lock_guard lock(small_);
    const double busy = counts_.busy + seconds;
    counts_ = storage_.counts();
    counts_.busy = busy;
}

void Desk::finish_round(bool mark) {
    ++worked_;
    const std::int64_t packed = placement_ != nullptr ? placement_->packed() : 0;
    open_rounds_.push_back({packed, composer_.records(), mark});
    (void)settle();
}

/// Goes on with what waits for its place, and ends the rounds of which everything is in the file.
bool Desk::settle() {
    if (!failure().ok()) return false;
    bool any = false;
    Status status;
    if (placement_ != nullptr) status = placement_->settle(any);
    const auto ended = [&] {
        return !open_rounds_.empty() &&
               (placement_ == nullptr || open_rounds_.front().packed <= placement_->settled());
    };
    if (status.ok() && placement_ != nullptr && options_.durable && ended())
        status = storage_.sync();
    if (!status.ok()) {
        status.text += fmt::format(" (rank {})", options_.rank);
        fail(status);
        return true;
    }
    // The keeper has something to take notice of, or has done so.
    if (any && !ended()) host_.report();
    for (; ended(); open_rounds_.pop_front(), any = true) end_round(open_rounds_.front());
    return any;
}

bool Desk::settle_all() {
    (void)settle();
    return open_rounds_.empty() || !failure().ok();
}

void Desk::end_round(const OpenRound& round) {
    if (counts_records()) rounds_.note(round.records);
    const std::int64_t n = rounds_.end();
    if (round.mark) ++marks_;
    sources_.tell_rounds(n);
    host_.report();
}

/// Rounds that all writers of the file have written.
std::int64_t Desk::rounds_of_all() const {
    std::int64_t all = rounds_.done();
    if (options_.own_file) return all;
    all = std::min(all, rounds_.others());
    for (const DeskSource& s : sources_) {
        if (!s.region) continue;
        for (int a = 0; a < options_.node_agents; ++a) {
            const Word& own = Region::of(*s.region).rounds[a];
            all =
                std::min(all, whole_count(own.load(std::memory_order_acquire), rounds_.counted()));
        }
        break;
    }
    return all;
}

/// Raises the record count to what all writers of the file have written.
bool Desk::commit() {
    if (!counts_records() || !rounds_.any_to_count()) return false;
    const std::int64_t all = rounds_of_all();
    if (all <= rounds_.counted() || !failure().ok()) return false;
    const std::int64_t records = rounds_.count(all);
    if (records == records_.load(std::memory_order_relaxed)) return true;
    if (Status status = storage_.set_records(records, options_.durable); !status.ok()) {
        status.text += fmt::format(" (rank {})", options_.rank);
        fail(status);
        return true;
    }
    records_.store(records, std::memory_order_release);
    return true;
}

Status Desk::commit_all(bool durable) {
    const std::lock_guard lock(working_);
    if (Status status = failure(); !status.ok()) return status;
    rounds_.count_all();
    const std::int64_t records = composer_.records();
    Status status = storage_.set_records(records, durable);
    if (status.ok()) records_.store(records, std::memory_order_release);
    return status;
}

}  // namespace thalweg::detail
