// SPDX-License-Identifier: Apache-2.0
#include "service/inline/mixed_batch.hpp"

#include <algorithm>
#include <utility>

#include "base/reserve.hpp"
#include "storage/chunked/chunk_grid.hpp"

namespace thalweg::detail {

void MixedBatch::make_room() {
    const std::size_t parts = batch_.staged.size() + 1 + batch_.parts.size();
    puts_.reserve(parts);
    chosen_.reserve(parts);
}

Status MixedBatch::turn() {
    const Status status = file_.team.agree(alone([&]() -> Status {
        writer_.make_room();
        make_room();
        return {};
    }));
    if (!status.ok()) return file_.keep(status);
    target_.storage->begin_boxes();
    turned_ = batch_.boxed = true;
    progress_.records = std::max(batch_.record, file_.existing.kept);
    return {};
}

Status MixedBatch::write(const Agreed& agreed, Ends ends, bool durable, bool at_once) {
    bool rest = false;
    if (Status s = find_puts(agreed, ends, at_once, rest); !s.ok()) return file_.keep(std::move(s));
    const bool queued = agreed.queued || rest || (joined_ && ends == Ends::file);
    if (queued)
        if (Status s = file_.team.agree(alone([&] { return queue_rest(ends, at_once); })); !s.ok())
            return file_.keep(std::move(s));
    const std::int64_t records = queued ? progress_.records : records_after(agreed, ends);
    Status mine = write_puts(records, !queued && ends == Ends::file);
    if (mine.ok()) mine = alone([&] { return note_written(records); });
    drop_written();
    return queued ? end_queued(agreed, ends, durable, std::move(mine))
                  : end_written(ends, records, durable, std::move(mine));
}

// ---- what the ranks write together --------------------------------------------------------------

/// @param rest  whether there is something that they do not
/// @note Collective; the status is the same on every rank
Status MixedBatch::find_puts(const Agreed& agreed, Ends ends, bool at_once, bool& rest) {
    if (Status s = find_whole_puts(file_, batch_, agreed, puts_, rest); !s.ok()) return s;
    with_reserve([&] {
        puts_.reserve(puts_.size() + batch_.parts.size());
        chosen_.reserve(puts_.capacity());
    });
    if (at_once) {
        for (std::size_t i = 0; i < batch_.parts.size(); ++i)
            rest |= agreed.put[i] != 0 || batch_.parts[i].written;
    } else {
        add_puts(agreed, ends);
    }
    rest |= keep_writable();
    chosen_.clear();
    for (const WholePut& p : puts_) chosen_.push_back({p.variable, p.key, p.placed});
    if (!puts_.empty() && !writer_.choose(chosen_).ok()) {
        rest = true;  // what needs no plan
        puts_.clear();
    }
    return {};
}

bool MixedBatch::is_put(int variable, std::int64_t record) const {
    return std::any_of(puts_.begin(), puts_.end(), [&](const WholePut& p) {
        return p.variable == variable && p.record == record;
    });
}

/// What tw_put has put and the meeting ends.
void MixedBatch::add_puts(const Agreed& agreed, Ends ends) {
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
bool MixedBatch::is_safe(const WholePut& put) const {
    if (put.complete) return true;
    return file_.variable(put.variable).record ? put.record >= progress_.records
                                               : progress_.filled[put.variable] == 0;
}

/// Leaves what one plan can write: a variable is held in one way.
/// @return whether something is taken out
bool MixedBatch::keep_writable() {
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
std::int64_t MixedBatch::records_after(const Agreed& agreed, Ends ends) const {
    std::int64_t records = progress_.records;
    for (const WholePut& p : puts_)
        if (file_.variable(p.variable).record) records = std::max(records, p.record + 1);
    if (ends == Ends::step && agreed.any_record) records = std::max(records, batch_.record + 1);
    return records;
}

/// Writes what the ranks have put together. New records before `records` are filled where nothing
/// was put.
Status MixedBatch::write_puts(std::int64_t records, bool fill_fixed) {
    Status status = write_puts_of(false, 0, fill_fixed);
    const auto next = [&](std::int64_t after) {  // a record that has something to write
        const std::int64_t fresh = std::max(after, progress_.records);
        std::int64_t first = fresh < records ? fresh : INT64_MAX;
        for (const WholePut& p : puts_)
            if (file_.variable(p.variable).record && p.record >= after)
                first = std::min(first, p.record);
        return first;
    };
    for (std::int64_t r = next(0); r != INT64_MAX; r = next(r + 1)) {
        Status own = write_puts_of(true, r, r >= progress_.records && r < records);
        if (status.ok()) status = std::move(own);
    }
    return status;
}

/// @param fill  what was neither put nor written before
Status MixedBatch::write_puts_of(bool records, std::int64_t record, bool fill) {
    writer_.begin_pass(records);
    const std::span<const Place> places = writer_.places();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int v = places[i].variable;
        if (fill && (records || progress_.filled[v] == 0)) writer_.set(i, Action::fill);
        for (const WholePut& p : puts_)
            if (p.variable == v && p.record == record) writer_.set(i, Action::data, p.view);
    }
    return writer_.write(record, batch_.misfits);
}

/// What was written together, or has gone to the queue, is done with.
void MixedBatch::drop_written() {
    for (const WholePut& p : puts_) {
        const std::size_t at = p.variable;
        const bool record = batch_.is_record(at);
        if (!record) progress_.filled[at] = 1;
        // What tw_put has put; it may wait while another record of the variable is written.
        if (batch_.parts[at].put && p.record == (record ? batch_.record : 0))
            batch_.parts[at].view = {};
    }
    local_.forget();
}

/// Nothing is in the queue of any rank: all learn what became of the write, and records are
/// counted.
Status MixedBatch::end_written(Ends ends, std::int64_t records, bool durable, Status mine) {
    (void)local_.take_misfits();
    const Status misfit = local_.last_misfit();
    // Chunks that are written whole are written when they are counted.
    const bool whole = is_netcdf4(file_.format) && needs_whole_chunks(file_.definitions);
    const bool counts = records != progress_.records || durable || whole;
    Status status = finish_write(file_, target_, std::move(mine), misfit,
                                 counts ? records : records_as_before, durable);
    if (!file_.failed.ok()) return status;
    progress_.records = records;
    batch_.note_records(records);
    for (Batch::Part& p : batch_.parts) p.boxed = false;
    batch_.forget(ends == Ends::step);
    if (ends == Ends::step) {
        if (!writer_.spaces().record.places.empty()) ++batch_.record;
        ++file_.figures.steps;
    }
    return status;
}

// ---- what goes by the queue ---------------------------------------------------------------------

/// All that the ranks do not write together.
Status MixedBatch::queue_rest(Ends ends, bool at_once) {
    if (Status s = local_.make_queue(); !s.ok()) return s;
    const auto is_written = [&](int variable, std::int64_t record) {
        return is_put(variable, record);
    };
    if (Status s = local_.queue_waiting(is_written); !s.ok()) return s;
    for (std::size_t i = 0; i < batch_.parts.size() && !at_once; ++i) {
        Batch::Part& p = batch_.parts[i];
        const bool record = batch_.is_record(i);
        if (!p.put || p.deferred() || (record && ends != Ends::step) ||
            is_put(i, record ? batch_.record : 0))
            continue;
        const ArrayView view = std::exchange(p.view, {});
        const std::int64_t misfits = batch_.misfits[i];  // found when it was copied
        if (Status s = local_.queue()->queue_variable(i, view); !s.ok()) return s;
        batch_.misfits[i] = misfits;
    }
    return {};
}

/// The queue of this rank, if there is one, goes on from what the ranks have written together.
Status MixedBatch::note_written(std::int64_t records) {
    if (local_.queue() == nullptr) return {};
    std::vector<WholeVariable> whole;
    for (const WholePut& p : puts_) whole.push_back({p.variable, p.record});
    local_.queue()->note_written(whole, records);
    return {};
}

/// The queue's part of a batch; then records are complete.
Status MixedBatch::end_queued(const Agreed& agreed, Ends ends, bool durable, Status mine) {
    if (mine = file_.team.agree(mine); !mine.ok()) return file_.keep(std::move(mine));
    if (!joined_) {  // the queue fills from now on
        std::fill(progress_.filled.begin(), progress_.filled.end(), 1);
        joined_ = true;
    }
    (void)local_.take_misfits();
    QueueService& queue = *local_.queue();
    queue.add_misfit(local_.last_misfit());
    Status status = ends == Ends::step   ? queue.end_step_agreed({}, agreed)
                    : ends == Ends::sync ? queue.sync_agreed(agreed, durable)
                                         : queue.write_rest(agreed);
    progress_.records = queue.records();
    return status;
}

}  // namespace thalweg::detail
