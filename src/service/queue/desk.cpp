// SPDX-License-Identifier: Apache-2.0
#include "service/queue/desk.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include "comm/clock.hpp"
#include "comm/text.hpp"
#include "comm/trace.hpp"

namespace thalweg::detail {

Desk::Desk(const Definitions& definitions, const Spaces& spaces, std::unique_ptr<Layout> layout,
           int writer, Storage& storage, DeskOptions options, DeskHost& host)
    : definitions_(definitions),
      spaces_(spaces),
      layout_(std::move(layout)),
      writer_(writer),
      storage_(storage),
      options_(std::move(options)),
      host_(host),
      composer_(definitions, spaces, *layout_, writer, storage, options_.piece, &host,
                options_.existing),
      records_(composer_.records()) {}

Status Desk::add_region(std::unique_ptr<Segment> memory) try {
    Source source;
    source.holdings = Holdings(Region::told(*memory), definitions_.variables);
    source.region = std::move(memory);
    sources_.push_back(std::move(source));
    return {};
} catch (const std::bad_alloc&) {
    return detail::failure(TW_ENOMEM, "{}: no memory for what the ranks hold (rank {})",
                           options_.path, options_.rank);
}

void Desk::add_feeder(int rank) {
    Source source;
    source.rank = rank;
    sources_.push_back(std::move(source));
}

void Desk::deliver(int feeder_rank, std::vector<char> message) {
    const std::lock_guard lock(small_);
    waiting_ += static_cast<std::int64_t>(message.size());
    for (Source& s : sources_)
        if (!s.region && s.rank == feeder_rank) s.messages.push_back(std::move(message));
}

Status Desk::failure() const {
    const std::lock_guard lock(small_);
    if (!failed_.ok()) return failed_;
    for (const Source& s : sources_)
        if (s.region)
            if (Status status = Region::of(*s.region).failure(); !status.ok()) return status;
    return {};
}

void Desk::fail(const Status& status) {
    {
        const std::lock_guard lock(small_);
        if (failed_.ok()) failed_ = status;
    }
    for (const Source& s : sources_)
        if (s.region) Region::of(*s.region).fail(status);
    host_.report();
}

WriteCounts Desk::counts() const {
    const std::lock_guard lock(small_);
    return counts_;
}

bool Desk::Source::has() const {
    if (!region) return !messages.empty();
    return whole_count(Region::of(*region).published.load(std::memory_order_acquire), next) > next;
}

const std::int64_t* Desk::Source::descriptor(std::int64_t unit) const {
    const std::int64_t at =
        Region::of(*region).unit_at[unit % Region::max_units].load(std::memory_order_relaxed);
    return reinterpret_cast<const std::int64_t*>(Region::data(*region) + at);
}

/// The parcels of a source's next unit; their data stay where they are until take().
std::vector<Parcel> Desk::open(Source& source) {
    if (!source.region) {
        const std::lock_guard lock(small_);
        return parse_message(source.messages.front(), definitions_.variables);
    }
    std::vector<Parcel> parcels;
    parcels.push_back(parse_parcel(source.descriptor(source.next), Region::data(*source.region),
                                   definitions_.variables, source.holdings));
    return parcels;
}

/// This writer has no more use for a source's next unit.
void Desk::take(Source& source) {
    ++source.next;
    if (source.region) {
        Word& done = Region::of(*source.region).done[options_.agent];
        done.store(static_cast<std::uint32_t>(source.next), std::memory_order_release);
        wake_all(done);
    } else {
        {
            const std::lock_guard lock(small_);
            waiting_ -= static_cast<std::int64_t>(source.messages.front().size());
            source.messages.pop_front();
        }
        host_.accepted(source.rank);
    }
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
    const bool worked = boxes_next() ? work_boxes() : work_units();
    const bool committed = commit();
    if (worked || committed)
        note_counts(now() - begin);
    else
        span.forget();
    return worked || committed;
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
    for (Source& s : sources_) {
        for (;;) {
            {
                const std::lock_guard lock(small_);
                if (!s.has()) break;
            }
            take(s);
            any = true;
        }
    }
    return any;
}

/// Calls visit(descriptor) for the parcels of a source's next unit.
template <class Visit>
void Desk::look(const Source& source, Visit&& visit) const {
    if (source.region) {
        visit(source.descriptor(source.next));
    } else {
        const std::lock_guard lock(small_);
        for_descriptors(source.messages.front(), visit);
    }
}

bool Desk::has_next(const Source& source) const {
    const std::lock_guard lock(small_);
    return source.has();
}

/// Whether some rank writes by boxes: then its units wait for nobody.
bool Desk::boxes_next() {
    if (composer_.boxed()) return true;
    bool any = false;
    for (const Source& s : sources_) {
        if (any || !has_next(s)) continue;
        look(s, [&](const std::int64_t* words) { any |= head_of(words).kind == UnitKind::boxes; });
    }
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
    bool all = true;
    {
        const std::lock_guard lock(small_);
        bool near = true;  // the ranks of this node
        for (const Source& s : sources_) {
            if (s.has()) continue;
            all = false;
            near &= !s.region;
        }
        if (!all) tell_stuck();
        if (!near) return false;
    }
    // Units have come since, and boxes may be among them.
    if (boxes_next()) return true;
    std::vector<Parcel> parcels;
    for (Source& s : sources_) {
        if (!s.region) continue;
        auto its = open(s);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    bool worked = false;
    if (host_.forwards() && forwarded_ == rounds()) {
        if (!send_on(parcels)) return false;
        worked = true;
    }
    if (!all) return worked;
    for (Source& s : sources_) {
        if (s.region) continue;
        auto its = open(s);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    // After a failure later records of the file are refused.
    if (failure().ok()) write_units(parcels);
    const bool mark = !parcels.empty() && is_mark(parcels.front().head.kind);
    if (mark) marks_sent_ = false;
    for (Source& s : sources_) take(s);
    finish_round(mark);
    return true;
}

/// Under small_.
Standstill Desk::find_standstill() const {
    Standstill last = elsewhere_;
    for (const Source& s : sources_) {
        if (!s.region) continue;
        // First how far it had come: a unit that it published before would be seen behind this.
        const std::uint32_t meetings =
            Region::of(*s.region).meetings.load(std::memory_order_acquire);
        if (!s.has()) last.take({s.next, meetings});
    }
    return last;
}

Standstill Desk::standstill() const {
    const std::lock_guard lock(small_);
    return find_standstill();
}

void Desk::learn(const Standstill& standstill) {
    const std::lock_guard lock(small_);
    elsewhere_.take(standstill);
}

/// Ranks of this node that wait for room for ever are told. Under small_.
void Desk::tell_stuck() const {
    constexpr auto order = std::memory_order_acquire;
    const Standstill standstill = find_standstill();
    for (const Source& s : sources_) {
        if (!s.region || !s.has()) continue;
        if (head_of(s.descriptor(s.next)).kind == UnitKind::boxes) continue;  // just published
        Region& region = Region::of(*s.region);
        const std::uint32_t here = region.meetings.load(order);
        if (standstill.stops(s.next + 1, here) && region.waiting.load(order) != 0)
            region.stuck.store(here + 1, std::memory_order_release);
    }
}

/// A step of boxes ends when all ranks have ended it, or wait at a mark: a tw_sync or tw_close,
/// which the ranks pass together.
bool Desk::work_boxes() {
    if (take_boxes()) return true;
    bool worked = false;
    bool all = true, near = true, all_marks = true;
    std::vector<Parcel> parcels, own;
    for (Source& s : sources_) {
        std::vector<Parcel> its;
        if (!s.ended.empty()) {
            its = s.ended.front();
            all_marks = false;
        } else if (at_mark(s)) {
            its = open(s);
        } else {
            all = false;
            near &= !s.region;
        }
        if (s.region) own.insert(own.end(), its.begin(), its.end());
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    if (near && host_.forwards() && forwarded_ == rounds()) {
        if (!send_on(own)) return false;
        worked = true;
    }
    if (!all) return worked;
    end_boxes(parcels, all_marks);
    if (all_marks) marks_sent_ = false;
    for (Source& s : sources_) {
        if (all_marks)
            take(s);
        else if (!s.ended.empty())
            s.ended.pop_front();
    }
    finish_round(all_marks);
    return true;
}

bool Desk::at_mark(const Source& source) const {
    bool mark = has_next(source);
    if (mark)
        look(source,
             [&](const std::int64_t* words) { mark = mark && is_mark(head_of(words).kind); });
    return mark;
}

/// Boxes of all ranks are written together: alone they may be parts of rows, of which the rest
/// would be read and written again. A rank that is ahead does not wait for the others: it needs the
/// room in its queue.
bool Desk::take_boxes() {
    const bool alone = std::all_of(sources_.begin(), sources_.end(),
                                   [](const Source& s) { return s.region != nullptr; });
    if (!alone || host_.forwards()) return write_as_they_come();
    std::vector<Source*> ready;
    bool complete = true;
    for (Source& s : sources_) {
        const bool has = has_next(s);
        complete = complete && (has || !s.ended.empty());
        if (has && !at_mark(s)) ready.push_back(&s);
    }
    if (std::none_of(ready.begin(), ready.end(), [this](Source* s) { return ahead(*s); }))
        std::erase_if(ready, [&](Source* s) {
            return (!complete || !s->ended.empty()) && has_data(s->descriptor(s->next));
        });
    if (ready.empty()) return false;
    std::vector<Parcel> together;
    for (Source* s : ready) {
        Parcel parcel = std::move(open(*s).front());
        if (ends(parcel)) s->ended.push_back({end_of(parcel)});
        together.push_back(std::move(parcel));
    }
    std::stable_sort(together.begin(), together.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    write_boxes(together);
    for (Source* s : ready) take(*s);
    return true;
}

/// Whether a rank of this node cannot go on, or not far, before its next unit is written.
bool Desk::ahead(const Source& source) const {
    const Region& region = Region::of(*source.region);
    if (region.waiting.load(std::memory_order_acquire) != 0) return true;
    const std::int64_t published =
        whole_count(region.published.load(std::memory_order_acquire), source.next);
    if (published - source.next < 2) return false;
    // At a mark it waits for the others, who will come there.
    return published - source.next > 2 || !is_mark(head_of(source.descriptor(published - 1)).kind);
}

/// The same with several nodes: what is there is written, unless it is the end of a step of a rank
/// that can wait. A node's boxes go to the others when they are written here, so that nodes which
/// waited for all ranks would wait for each other.
bool Desk::write_as_they_come() {
    struct Taken {
        Source* source;
        std::vector<Parcel> parcels, ended;
        bool ends, any;
    };
    std::vector<Taken> all;
    bool complete = true;
    for (Source& s : sources_) {
        bool has;
        {
            const std::lock_guard lock(small_);
            has = s.has();
        }
        complete &= has || !s.ended.empty();
        if (!has || at_mark(s)) continue;
        Taken t{&s, open(s), {}, true, false};
        for (const Parcel& p : t.parcels) {
            t.ended.push_back(end_of(p));
            if (is_mark(p.head.kind)) continue;
            t.ends &= ends(p);
            t.any |= !p.entries.empty();
        }
        if (s.region && t.any && host_.forwards() && !host_.may_forward()) continue;
        // A feeder's message is used even where some of its ranks wait at a mark.
        std::erase_if(t.parcels, [](const Parcel& p) { return is_mark(p.head.kind); });
        all.push_back(std::move(t));
    }
    if (!complete)
        std::erase_if(all, [&](const Taken& t) { return t.ends && !far_ahead(*t.source); });
    if (all.empty()) return false;
    std::vector<Parcel> together;
    for (const Taken& t : all) together.insert(together.end(), t.parcels.begin(), t.parcels.end());
    std::stable_sort(together.begin(), together.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    write_boxes(together);
    for (Taken& t : all) {
        if (t.source->region && t.any && host_.forwards()) {
            // The end of the step is sent when all of this node have ended it.
            for (Parcel& p : t.parcels) {
                if (p.head.kind == UnitKind::step) p.head.kind = UnitKind::boxes;
                p.head.ends = false;
            }
            host_.forward(t.parcels);
        }
        if (t.ends) t.source->ended.push_back(std::move(t.ended));
        take(*t.source);
    }
    return true;
}

/// Whether a source cannot go on, or not far, before its next unit is written. Who sends messages
/// cannot say, and counts as such.
bool Desk::far_ahead(const Source& source) const {
    if (!source.region) return true;
    const Region& region = Region::of(*source.region);
    return region.waiting.load(std::memory_order_acquire) != 0 ||
           region.published.load(std::memory_order_acquire) -
                   static_cast<std::uint32_t>(source.next) >=
               2;
}

/// Whether a rank has ended its step with a unit.
bool Desk::ends(const Parcel& parcel) {
    return parcel.head.kind == UnitKind::step ||
           (parcel.head.kind == UnitKind::boxes && parcel.head.ends);
}

/// What is left of a parcel that was written: that its rank has ended the step, and what it put.
Parcel Desk::end_of(const Parcel& parcel) {
    Parcel end = parcel;
    end.entries.clear();
    end.head.kind = UnitKind::boxes;
    end.head.variable = -1;
    end.head.begin = end.head.end = 0;
    return end;
}

/// All ranks have ended a step, or all are at a mark.
void Desk::end_boxes(std::span<const Parcel> parcels, bool all_marks) {
    std::int64_t records = 0;
    bool marks = false;
    for (const Parcel& p : parcels) {
        records = std::max(records, p.head.records);
        marks |= is_mark(p.head.kind);
        given_ |= p.head.given;
    }
    // Of a file that only tw_put writes, each step is a record.
    if (!given_ && !marks && !spaces_.record.places.empty())
        records = std::max(records, parcels.front().head.record + 1);
    Status status = failure();
    if (!status.ok()) return;
    // Ranks that are at a mark while others end a step have put nothing of it.
    if (all_marks || !marks) status = check(parcels);
    if (status.ok() && all_marks) status = composer_.write_boxes(parcels);
    if (status.ok()) status = composer_.end_boxes(records, all_marks);
    if (status.ok() && all_marks && parcels.front().head.kind == UnitKind::last)
        status = composer_.fill_fixed();
    if (status.ok() && options_.durable) status = storage_.sync();
    if (!status.ok()) fail(status);
}

/// Whether the ranks did the same.
Status Desk::check(std::span<const Parcel> parcels) const {
    static const char* const names[] = {"tw_end_step", "tw_sync", "tw_close", "tw_put",
                                        "tw_put_box"};
    const UnitHead& first = parcels.front().head;
    std::vector<std::int64_t> put(parcels.front().put.size(), 0), lacking(put), bare(put),
        with_halo(put);
    for (const Parcel& p : parcels) {
        const UnitHead& h = p.head;
        if (h.kind != first.kind || h.variable != first.variable || h.begin != first.begin) {
            auto call = [&](const UnitHead& head) {
                std::string text = names[static_cast<std::size_t>(head.kind)];
                if (head.variable >= 0)
                    text += fmt::format(
                        " of variable '{}'",
                        definitions_.variables[static_cast<std::size_t>(head.variable)].name);
                return text;
            };
            return detail::failure(TW_EMISMATCH,
                                   "{}: the ranks are in different calls: {} on rank {}, {} on "
                                   "rank {}",
                                   options_.path, call(first), first.rank, call(h), h.rank);
        }
        for (std::size_t i = 0; i < put.size(); ++i) {
            put[i] |= p.put[i];
            lacking[i] |= p.lacking[i];
            bare[i] |= p.bare[i];
            with_halo[i] |= p.with_halo[i];
        }
    }
    if (first.kind == UnitKind::part) return {};
    for (std::size_t v = 0; v < definitions_.variables.size(); ++v) {
        const std::int64_t bit = static_cast<std::int64_t>(std::uint64_t(1) << (v % 64));
        if ((bare[v / 64] & with_halo[v / 64] & bit) != 0) {
            const auto first_of = [&](std::vector<std::int64_t> Parcel::*mask) {
                int lowest = INT_MAX;
                for (const Parcel& p : parcels)
                    if (((p.*mask)[v / 64] & bit) != 0) lowest = std::min(lowest, p.head.rank);
                return lowest;
            };
            return detail::failure(
                TW_EMISMATCH,
                "{}: variable '{}' of record {}: the ranks pass arrays of different forms: without "
                "halo on rank {}, with halo on rank {}. If the boxes share an array of fixed "
                "extents, declare them with tw_pad",
                options_.path, definitions_.variables[v].name, options_.wording.index(first.record),
                first_of(&Parcel::bare), first_of(&Parcel::with_halo));
        }
        if ((put[v / 64] & lacking[v / 64] & bit) == 0) continue;
        std::vector<int> ranks;
        for (const Parcel& p : parcels)
            if ((p.lacking[v / 64] & bit) != 0) ranks.push_back(p.head.rank);
        std::sort(ranks.begin(), ranks.end());
        return detail::failure(
            TW_EMISSING, "{}: variable '{}' of record {} was not put on rank {}, but was on others",
            options_.path, definitions_.variables[v].name, options_.wording.index(first.record),
            joined(ranks, ", "));
    }
    return {};
}

void Desk::write_units(std::span<const Parcel> parcels) {
    if (parcels.empty()) return;
    if (Status status = check(parcels); !status.ok()) return fail(status);
    write(composer_.write(parcels));
}

void Desk::write_boxes(std::span<const Parcel> parcels) {
    if (!parcels.empty() && failure().ok()) write(composer_.write_boxes(parcels));
}

/// After a write.
void Desk::write(Status status) {
    if (status.ok() && options_.durable) status = storage_.sync();
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
    const std::int64_t n = rounds() + 1;
    if (counts_records()) records_after_.push_back(composer_.records());
    rounds_.store(n, std::memory_order_release);
    if (mark) ++marks_;
    for (const Source& s : sources_)
        if (s.region)
            Region::of(*s.region).rounds[options_.agent].store(static_cast<std::uint32_t>(n),
                                                               std::memory_order_release);
    host_.report();
}

/// Raises the record count to what all writers of the file have written.
bool Desk::commit() {
    if (!counts_records() || records_after_.empty()) return false;
    std::int64_t all = rounds();
    if (!options_.own_file) all = std::min(all, others_.load(std::memory_order_acquire));
    for (const Source& s : sources_) {
        if (!s.region || options_.own_file) continue;
        for (int a = 0; a < options_.node_agents; ++a)
            all = std::min(
                all, whole_count(Region::of(*s.region).rounds[a].load(std::memory_order_acquire),
                                 committed_));
        break;
    }
    if (all <= committed_ || !failure().ok()) return false;
    std::int64_t records = 0;
    for (; committed_ < all; ++committed_) {
        records = records_after_.front();
        records_after_.pop_front();
    }
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
    records_after_.clear();
    committed_ = rounds();
    const std::int64_t records = composer_.records();
    Status status = storage_.set_records(records, durable);
    if (status.ok()) records_.store(records, std::memory_order_release);
    return status;
}

}  // namespace thalweg::detail
