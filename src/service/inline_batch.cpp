// Service inline, once some rank has put boxes, or records by a decomposition. These records wait,
// as copies, for the ranks to meet. What all ranks have put alike is written by all of them
// together, as tw_put's step is; the rest goes by a queue to the writers, and is written after it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "comm/clock.hpp"
#include "comm/reserve.hpp"
#include "comm/trace.hpp"
#include "service/inline_service.hpp"
#include "storage/netcdf4/chunk_grid.hpp"

namespace thalweg::detail {

// ---- what a rank puts ---------------------------------------------------------------------------

/// This rank's part of a record; null if there is none.
RecordPart* InlineService::waiting(int variable, std::int64_t record) {
    for (RecordPart& p : batch_.staged)
        if (p.placed->variable == variable && p.record == record) return &p;
    return nullptr;
}

/// A later put of a rank stands, so that it has to follow the boxes that are in the queue.
bool InlineService::goes_by_queue(const RecordPut& put) const {
    return put.placed->key == 0 || boxed_.count({put.placed->variable, put.record}) > 0;
}

Status InlineService::check_room(int variable, std::span<const HeldBox> held,
                                 std::int64_t records) {
    if (Status s = alone([&] { return make_boxes(); }); !s.ok())
        return file_.in_variable(std::move(s), variable);
    return boxes_->check_room(variable, held, records);
}

/// What waits has to fit into the queue, in case that it must go there.
Status InlineService::check_record_room(const RecordPut& put) {
    const int at = put.placed->variable;
    if (boxes_ || goes_by_queue(put)) return check_room(at, put.placed->held, 1);
    const Variable& v = file_.variable(at);
    const std::int64_t room = room_for_boxes(v, put.placed->held, queue_bytes_ / 2);
    if (batch_.waiting + room <= file_.options.staging) return {};
    return too_much_put(file_, v, "staging", file_.options.staging);
}

Status InlineService::put_record(const RecordPut& put) {
    const int at = put.placed->variable;
    RecordPart* part = waiting(at, put.record);
    if (goes_by_queue(put) || (part != nullptr && part->placed->key != put.placed->key)) {
        if (Status s = settle(at, put.record); !s.ok()) return s;
        boxed_.emplace(at, put.record);
        batch_.queued = true;
        if (Status s = make_boxes(); !s.ok()) return s;
        return put_as_boxes(put);
    }
    const std::size_t parts = batch_.staged.size() + 1 + batch_.parts.size();
    puts_.reserve(parts);
    chosen_.reserve(parts);
    if (part != nullptr) return stage(put, *part);
    RecordPart made;
    if (Status s = stage(put, made); !s.ok()) return s;
    batch_.staged.push_back(std::move(made));
    batch_.waiting += batch_.staged.back().room;
    return {};
}

/// Keeps the array's address, or a copy.
/// @param part  of the same record, put before, or none
Status InlineService::stage(const RecordPut& put, RecordPart& part) {
    const Placed& placed = *put.placed;
    const Variable& v = file_.variable(placed.variable);
    const Staged staged{v, *placed.decomposition, placed.order};
    ArrayView view = put.view;
    Glimpse glimpse;
    if (put.deferred) {
        glimpse = Glimpse(*placed.decomposition, placed.order, placed.held, view);
    } else if (!placed.held.empty()) {
        const bool has_copy = part.placed && !part.deferred;
        char* const to =
            has_copy ? const_cast<char*>(part.view.data) : copies_.take(staged.bytes());
        if (to == nullptr)
            return failure(TW_ENOMEM,
                           "{}: variable '{}': out of memory: {} bytes for copies (rank {})",
                           file_.path, v.name, staged.bytes(), file_.team.rank());
        Span span("copy");
        span.variable(v.name).bytes(staged.bytes());
        batch_.misfits[placed.variable] += staged.copy(file_.packers, view, to);
    }
    static_cast<RecordPut&>(part) = put;
    part.view = view;
    part.glimpse = std::move(glimpse);
    part.room = room_for_boxes(v, placed.held, queue_bytes_ / 2);
    return {};
}

Status InlineService::queue_part(RecordPart& part) {
    if (Status s = make_boxes(); !s.ok()) return s;
    batch_.waiting -= std::exchange(part.room, 0);
    boxed_.emplace(part.placed->variable, part.record);
    batch_.queued = true;
    return put_as_boxes(part);
}

/// What this rank has put of a record moves to the queue: something follows it there.
Status InlineService::settle(int variable, std::int64_t record) {
    RecordPart* const part = waiting(variable, record);
    if (part == nullptr) return {};
    if (Status s = queue_part(*part); !s.ok()) return s;
    batch_.staged.erase(batch_.staged.begin() + (part - batch_.staged.data()));
    return {};
}

Status InlineService::put_box(const BoxPart& part) {
    // Called for the parts of a record as well, which settle() has looked for.
    if (boxed_.emplace(part.variable, part.record).second)
        if (Status s = settle(part.variable, part.record); !s.ok()) return s;
    batch_.queued = true;
    return boxes_->put_box(part);
}

/// Values that did not fit: told by the call that found them, and again to all ranks when they
/// meet.
Status InlineService::take_misfits() {
    Status status = batch_.take_misfits(true);
    if (misfit_.ok()) misfit_ = status;
    return status;
}

/// What is needed for boxes. Local: the other ranks follow when they all meet.
Status InlineService::make_boxes() {
    if (boxes_) return {};
    std::vector<char> written;
    for (const Batch::Part& p : batch_.parts) written.push_back(p.written);
    Status status;
    boxes_ = make_inline_queue(file_, target_, batch_, turned_ ? records_ : batch_.record, filled_,
                               std::move(written), status);
    return status;
}

// ---- the ranks meet -----------------------------------------------------------------------------

/// Some rank has boxes, or records by a decomposition: from now on these may come in any step.
/// @note Collective
Status InlineService::turn_to_boxes() {
    const Status status = file_.team.agree(alone([&]() -> Status {
        const Spaces& spaces = writer_.spaces();
        const std::size_t places =
            std::max(spaces.fixed.places.size(), spaces.record.places.size());
        actions_.reserve(places);
        arrays_.reserve(places);
        puts_.reserve(batch_.staged.size() + batch_.parts.size());
        chosen_.reserve(batch_.staged.size() + batch_.parts.size());
        return {};
    }));
    if (!status.ok()) return file_.keep(status);
    target_.storage->begin_boxes();
    turned_ = batch_.boxed = true;
    records_ = std::max(batch_.record, file_.existing.kept);
    return {};
}

bool InlineService::is_put(int variable, std::int64_t record) const {
    return std::any_of(puts_.begin(), puts_.end(), [&](const WholePut& p) {
        return p.variable == variable && p.record == record;
    });
}

/// What tw_put has put and the meeting ends.
void InlineService::add_puts(const Agreed& agreed, Ends ends) {
    for (std::size_t i = 0; i < batch_.parts.size(); ++i) {
        const Variable& v = file_.definitions.variables[i];
        if (!agreed.put[i] || (v.record && ends != Ends::step)) continue;
        WholePut put;
        put.variable = i;
        put.record = v.record ? batch_.record : 0;
        put.key = writer_.declared(put.variable);
        put.complete = v.decomposition->whole;
        if (batch_.parts[i].put && v.decomposition->held > 0) put.view = &batch_.parts[i].view;
        puts_.push_back(put);
    }
}

/// Whether nothing is lost where what nobody holds is filled.
bool InlineService::is_safe(const WholePut& put) const {
    if (put.complete) return true;
    return file_.variable(put.variable).record ? put.record >= records_
                                               : filled_[put.variable] == 0;
}

/// Leaves what one plan can write: a variable is held in one way.
/// @return whether something is taken out
bool InlineService::keep_writable() {
    const std::size_t all = puts_.size();
    std::erase_if(puts_, [&](const WholePut& p) { return !is_safe(p); });
    // The same on every rank, whatever the order of its calls.
    std::sort(puts_.begin(), puts_.end(), [](const WholePut& a, const WholePut& b) {
        return std::pair(a.variable, a.record) < std::pair(b.variable, b.record);
    });
    std::size_t n = 0;
    for (std::size_t i = 0, first = 0; i < puts_.size(); ++i) {
        if (puts_[i].variable != puts_[first].variable) first = i;
        if (puts_[i].key == puts_[first].key) {
            if (n != i) puts_[n] = puts_[i];
            ++n;
        }
    }
    puts_.resize(n);
    return puts_.size() < all;
}

/// Records of the file when the batch is written, where all of it is in puts_.
std::int64_t InlineService::records_after(const Agreed& agreed, Ends ends) const {
    std::int64_t records = records_;
    for (const WholePut& p : puts_)
        if (file_.variable(p.variable).record) records = std::max(records, p.record + 1);
    if (ends == Ends::step && agreed.any_record) records = std::max(records, batch_.record + 1);
    return records;
}

/// @note Collective; the status is the same on every rank
Status InlineService::write_batch(const Agreed& agreed, Ends ends, bool durable) {
    bool rest = false;
    if (Status s = find_whole_puts(file_, batch_, agreed, puts_, rest); !s.ok())
        return file_.keep(std::move(s));
    bool put_early = false;  // tw_put has written, or queued, some of the open step
    for (std::size_t i = 0; i < batch_.parts.size(); ++i)
        put_early |= immediate_ && (agreed.put[i] || batch_.parts[i].written);
    with_reserve([&] {
        puts_.reserve(puts_.size() + batch_.parts.size());
        chosen_.reserve(puts_.capacity());
    });
    if (!immediate_) add_puts(agreed, ends);
    rest |= keep_writable();
    chosen_.clear();
    for (const WholePut& p : puts_) chosen_.push_back({p.variable, p.key, p.placed});
    if (!puts_.empty() && !writer_.choose(chosen_).ok()) {
        rest = true;  // what needs no plan
        puts_.clear();
    }
    const bool queued = agreed.queued || rest || put_early || (joined_ && ends == Ends::file);
    if (queued)
        if (Status s = file_.team.agree(alone([&] { return queue_rest(ends); })); !s.ok())
            return file_.keep(std::move(s));
    const std::int64_t records = queued ? records_ : records_after(agreed, ends);
    Status mine = write_puts(records, !queued && ends == Ends::file);
    const auto note = [&]() -> Status {
        std::vector<WholeVariable> whole;
        for (const WholePut& p : puts_) whole.push_back({p.variable, p.record});
        boxes_->note_written(whole, records);
        return {};
    };
    if (boxes_ && mine.ok()) mine = alone(note);
    drop_written();
    return queued ? end_queued(agreed, ends, durable, std::move(mine))
                  : end_written(ends, records, durable, std::move(mine));
}

/// All that the ranks do not write together.
Status InlineService::queue_rest(Ends ends) {
    if (Status s = make_boxes(); !s.ok()) return s;
    for (RecordPart& p : batch_.staged)
        if (!is_put(p.placed->variable, p.record))
            if (Status s = queue_part(p); !s.ok()) return s;
    for (std::size_t i = 0; i < batch_.parts.size() && !immediate_; ++i) {
        Batch::Part& p = batch_.parts[i];
        const bool record = batch_.is_record(i);
        if (!p.put || p.deferred() || (record && ends != Ends::step) ||
            is_put(i, record ? batch_.record : 0))
            continue;
        const ArrayView view = std::exchange(p.view, {});
        const std::int64_t misfits = batch_.misfits[i];  // found when it was copied
        if (Status s = boxes_->queue_variable(i, view); !s.ok()) return s;
        batch_.misfits[i] = misfits;
    }
    return {};
}

/// Writes what the ranks have put together. New records before `records` are filled where nothing
/// was put.
Status InlineService::write_puts(std::int64_t records, bool fill_fixed) {
    Status status = write_puts_of(false, 0, fill_fixed);
    const auto next = [&](std::int64_t after) {  // a record that has something to write
        std::int64_t first =
            std::max(after, records_) < records ? std::max(after, records_) : INT64_MAX;
        for (const WholePut& p : puts_)
            if (file_.variable(p.variable).record && p.record >= after)
                first = std::min(first, p.record);
        return first;
    };
    for (std::int64_t r = next(0); r != INT64_MAX; r = next(r + 1)) {
        Status own = write_puts_of(true, r, r >= records_ && r < records);
        if (status.ok()) status = std::move(own);
    }
    return status;
}

/// @param fill  what was neither put nor written before
Status InlineService::write_puts_of(bool records, std::int64_t record, bool fill) {
    const auto& places = writer_.spaces().of(records).places;
    skip_all(writer_.spaces().of(records));
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int v = places[i].variable;
        if (fill && (records || filled_[v] == 0)) actions_[i] = Action::fill;
        for (const WholePut& p : puts_) {
            if (p.variable != v || p.record != record) continue;
            actions_[i] = Action::data;
            arrays_[i] = p.view;
        }
    }
    return writer_.write(records, record, actions_, arrays_, batch_.misfits);
}

/// What was written together, or has gone to the queue, is done with.
void InlineService::drop_written() {
    for (const WholePut& p : puts_) {
        const std::size_t at = p.variable;
        const bool record = batch_.is_record(at);
        if (!record) filled_[at] = 1;
        // What tw_put has put; it may wait while another record of the variable is written.
        if (batch_.parts[at].put && p.record == (record ? batch_.record : 0))
            batch_.parts[at].view = {};
    }
    batch_.staged.clear();
    batch_.waiting = 0;
    batch_.queued = false;
    boxed_.clear();
    copies_.give_back();
}

/// The queue's part of a batch; then records are complete.
Status InlineService::end_queued(const Agreed& agreed, Ends ends, bool durable, Status mine) {
    if (mine = file_.team.agree(mine); !mine.ok()) return file_.keep(std::move(mine));
    if (!joined_) std::fill(filled_.begin(), filled_.end(), 1);  // the queue fills from now on
    joined_ = true;
    (void)take_misfits();
    boxes_->add_misfit(std::exchange(misfit_, {}));
    Status status = ends == Ends::step   ? boxes_->end_step_agreed({}, agreed)
                    : ends == Ends::sync ? boxes_->sync_agreed(agreed, durable)
                                         : boxes_->write_rest(agreed);
    records_ = boxes_->records();
    return status;
}

/// Nothing is in the queue of any rank: all learn what became of the write, and records are
/// counted.
Status InlineService::end_written(Ends ends, std::int64_t records, bool durable, Status mine) {
    (void)take_misfits();
    const Status misfit = std::exchange(misfit_, {});
    // Chunks that are written whole are written when they are counted.
    const bool whole = is_netcdf4(file_.format) && needs_whole_chunks(file_.definitions);
    const bool counts = records != records_ || durable || whole;
    Status status = finish_write(std::move(mine), misfit, counts ? records : none, durable);
    if (!file_.failed.ok()) return status;
    records_ = records;
    batch_.note_records(records);
    for (Batch::Part& p : batch_.parts) p.boxed = false;
    batch_.forget(ends == Ends::step);
    if (ends == Ends::step) {
        if (!writer_.spaces().record.places.empty()) ++batch_.record;
        ++file_.figures.steps;
    }
    return status;
}

}  // namespace thalweg::detail
