// SPDX-License-Identifier: Apache-2.0
#include "service/desk.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <new>

namespace thalweg {

Desk::Desk(const Definitions& definitions, const Spaces& spaces, std::unique_ptr<Layout> layout,
           int writer, Storage& storage, DeskOptions options)
    : definitions_(definitions),
      spaces_(spaces),
      layout_(std::move(layout)),
      writer_(writer),
      storage_(storage),
      options_(std::move(options)),
      composer_(definitions, spaces, *layout_, writer, storage, options_.piece, [this] {
          if (between) between();
      }) {}

void Desk::add_region(std::unique_ptr<Segment> memory) {
    Source source;
    source.region = std::move(memory);
    sources_.push_back(std::move(source));
}

void Desk::add_feeder(int rank, bool rounds) {
    Source source;
    source.rank = rank;
    source.in_rounds = rounds;
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
    if (report) report();
}

WriteCounts Desk::counts() const {
    const std::lock_guard lock(small_);
    return counts_;
}

bool Desk::Source::has() const {
    if (!region) return !messages.empty();
    return whole_count(Region::of(*region).published.load(std::memory_order_acquire), next) > next;
}

/// The parcels of a source's next unit; their data stay where they are until take().
std::vector<Parcel> Desk::open(Source& source) {
    if (!source.region) {
        const std::lock_guard lock(small_);
        return parse_message(source.messages.front(), definitions_.variables);
    }
    const Region& region = Region::of(*source.region);
    const char* data = Region::data(*source.region);
    const std::int64_t at =
        region.unit_at[source.next % Region::max_units].load(std::memory_order_relaxed);
    std::vector<Parcel> parcels;
    parcels.push_back(parse_parcel(reinterpret_cast<const std::int64_t*>(data + at), data,
                                   definitions_.variables));
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
        if (accepted) accepted(source.rank);
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
    const bool worked = boxes_next() ? work_boxes() : work_units();
    const bool committed = commit();
    return worked || committed;
} catch (const std::bad_alloc&) {
    fail(thalweg::failure(TW_ENOMEM, "{}: out of memory (rank {})", options_.path, options_.rank));
    return true;
} catch (const std::exception& e) {
    fail(thalweg::failure(TW_EINTERNAL, "{}: internal error: {} (rank {})", options_.path, e.what(),
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

/// Whether some rank writes by boxes: then its units wait for nobody.
bool Desk::boxes_next() const {
    if (composer_.boxed()) return true;
    const std::lock_guard lock(small_);
    for (const Source& s : sources_) {
        if (!s.has()) continue;
        const std::int64_t* words;
        if (s.region) {
            const std::int64_t at = Region::of(*s.region).unit_at[s.next % Region::max_units].load(
                std::memory_order_relaxed);
            words = reinterpret_cast<const std::int64_t*>(Region::data(*s.region) + at);
        } else {
            if (s.messages.front().empty()) continue;
            words = reinterpret_cast<const std::int64_t*>(s.messages.front().data() + 8);
        }
        if (kind_of(words) == UnitKind::boxes) return true;
    }
    return false;
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
        if (!near) return false;
    }
    std::vector<Parcel> parcels;
    for (Source& s : sources_) {
        if (!s.region) continue;
        auto its = open(s);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    bool worked = false;
    if (forward && forwarded_ == rounds()) {
        if (may_forward && !may_forward()) return false;
        ++forwarded_;
        forward(parcels, composer_.records());
        worked = true;
    }
    if (!all) return worked;
    for (Source& s : sources_) {
        if (s.region) continue;
        auto its = open(s);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    write(parcels);
    const bool mark = !parcels.empty() && is_mark(parcels.front().head.kind);
    for (Source& s : sources_) take(s);
    finish_round(mark);
    return true;
}

/// Boxes are written as they come. A step ends when all ranks have ended it, or wait at a mark: a
/// tw_sync or tw_close, which the ranks pass together.
bool Desk::work_boxes() {
    bool all = !sources_.empty(), near = true, all_marks = true;
    std::vector<Parcel> parcels, own;
    std::vector<Source*> ending;
    bool continue_later = false;
    for (Source& s : sources_) {
        bool has;
        {
            const std::lock_guard lock(small_);
            has = s.has();
        }
        if (!has) {
            all = false;
            near &= !s.region;
            continue;
        }
        auto its = open(s);
        bool mark = true, ends = true;
        for (const Parcel& p : its) {
            const bool put = std::any_of(p.put.begin(), p.put.end(), [](auto w) { return w != 0; });
            if (p.head.kind != UnitKind::boxes && (put || p.head.kind == UnitKind::part)) {
                fail(thalweg::failure(TW_EMISMATCH,
                                      "{}: rank {} writes by tw_put, other ranks by tw_put_box",
                                      options_.path, p.head.rank));
                return true;
            }
            mark &= is_mark(p.head.kind);
            ends &= is_mark(p.head.kind) || p.head.ends;
        }
        if (!ends) {
            if (s.region && forward && may_forward && !may_forward()) continue_later = true;
            if (continue_later) {
                all = near = false;
                continue;
            }
            write(its);
            if (forward && s.region) forward(its, 0);
            take(s);
            return true;
        }
        // What waits at a mark stays, but a feeder that works in rounds sends it again.
        if (!mark || s.in_rounds) ending.push_back(&s);
        all_marks &= mark;
        if (s.region) own.insert(own.end(), its.begin(), its.end());
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    bool worked = false;
    if (near && forward && forwarded_ == rounds()) {
        if (may_forward && !may_forward()) return false;
        ++forwarded_;
        forward(own, 0);
        worked = true;
    }
    if (!all) return worked;
    std::stable_sort(parcels.begin(), parcels.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    std::int64_t records = 0;
    for (const Parcel& p : parcels) records = std::max(records, p.head.records);
    Status status;
    if (all_marks) {
        status = check(parcels);
    } else {
        std::erase_if(parcels, [](const Parcel& p) { return is_mark(p.head.kind); });
        write(parcels);
    }
    if (status.ok() && failure().ok()) {
        status = composer_.end_boxes(records);
        if (status.ok() && all_marks && parcels.front().head.kind == UnitKind::last)
            status = composer_.fill_fixed();
        if (status.ok() && options_.durable) status = storage_.sync();
    }
    if (!status.ok()) fail(status);
    if (all_marks)
        for (Source& s : sources_) take(s);
    else
        for (Source* s : ending) take(*s);
    finish_round(all_marks);
    return true;
}

/// Whether the ranks did the same.
Status Desk::check(std::span<const Parcel> parcels) const {
    static const char* const names[] = {"tw_end_step", "tw_sync", "tw_close", "tw_put",
                                        "tw_put_box"};
    const UnitHead& first = parcels.front().head;
    std::vector<std::int64_t> put(parcels.front().put.size(), 0), lacking(put);
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
            return thalweg::failure(TW_EMISMATCH,
                                    "{}: the ranks are in different calls: {} on rank {}, {} on "
                                    "rank {}",
                                    options_.path, call(first), first.rank, call(h), h.rank);
        }
        for (std::size_t i = 0; i < put.size(); ++i) {
            put[i] |= p.put[i];
            lacking[i] |= p.lacking[i];
        }
    }
    if (first.kind == UnitKind::part) return {};
    for (std::size_t v = 0; v < definitions_.variables.size(); ++v) {
        const std::int64_t bit = static_cast<std::int64_t>(std::uint64_t(1) << (v % 64));
        if ((put[v / 64] & lacking[v / 64] & bit) == 0) continue;
        std::vector<int> ranks;
        for (const Parcel& p : parcels)
            if ((p.lacking[v / 64] & bit) != 0) ranks.push_back(p.head.rank);
        std::sort(ranks.begin(), ranks.end());
        return thalweg::failure(
            TW_EMISSING, "{}: variable '{}' of record {} was not put on rank {}, but on others",
            options_.path, definitions_.variables[v].name, composer_.records(),
            fmt::join(ranks, ", "));
    }
    return {};
}

void Desk::write(std::span<const Parcel> parcels) {
    if (parcels.empty()) return;
    Status status = failure();
    if (!status.ok()) return;  // later records of the file are refused
    if (parcels.front().head.kind != UnitKind::boxes) status = check(parcels);
    if (status.ok()) {
        status = composer_.write(parcels);
        if (status.ok() && options_.durable) status = storage_.sync();
        if (!status.ok()) status.text += fmt::format(" (rank {})", options_.rank);
    }
    {
        const std::lock_guard lock(small_);
        counts_ = storage_.counts();
    }
    if (!status.ok()) fail(status);
}

void Desk::finish_round(bool mark) {
    const std::int64_t n = rounds() + 1;
    if (writer_ == 0) records_after_.push_back(composer_.records());
    rounds_.store(n, std::memory_order_release);
    if (mark) ++marks_;
    for (const Source& s : sources_)
        if (s.region)
            Region::of(*s.region).rounds[options_.agent].store(static_cast<std::uint32_t>(n),
                                                               std::memory_order_release);
    if (report) report();
}

/// On the first writer: raises the record count to what all writers have written.
bool Desk::commit() {
    if (writer_ != 0 || records_after_.empty()) return false;
    std::int64_t all = std::min(rounds(), others_.load(std::memory_order_acquire));
    for (const Source& s : sources_) {
        if (!s.region) continue;
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

}  // namespace thalweg
