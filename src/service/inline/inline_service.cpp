// SPDX-License-Identifier: Apache-2.0
#include "service/inline/inline_service.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "definitions/fill.hpp"
#include "exchange/progress.hpp"
#include "storage/chunked/chunk_grid.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a part is one box whose place in the file is known, and if no other data or fill values
/// are written there without a look at the file.
bool can_write_box(const FileContext& file, const Target& target, const Part& part) {
    const std::optional<VariableStorage> stored = target.storage->stored(part.variable);
    return target.storage->traits().opens_alone && !target.storage->collective() &&
           (!stored || stored->chunk.empty()) && !file.options.checksums && !file.several_files() &&
           !file.existing.is && stays_hole(file.variable(part.variable)) &&
           part.boxes().size() == 1 && part.boxes().front().list == nullptr;
}

/// Value of `records` that leaves the record count unchanged.
constexpr std::int64_t records_as_before = -1;

Status publish_records(Storage& storage, std::int64_t records, bool durable, bool closes,
                       bool completes) {
    if (completes) storage.complete_records();
    Status status = storage.set_records(records, durable);
    if (status.ok()) status = storage.catch_up();
    return status.ok() && closes ? storage.close_early() : status;
}

/**
 * Agrees on the outcome of a write. If no rank failed, counts the records first, so that errors in
 * counting are part of the outcome.
 * @param mine     this rank's own failure
 * @param misfit   the error for values of this rank that did not fit
 * @param records  number in the file, or records_as_before
 * @param closes   every rank also calls Storage::close_early()
 * @param completes  every rank also calls Storage::complete_records()
 * @return the same on every rank: a failure, which the file keeps, or the error for values that did
 *     not fit
 * @note Collective
 */
Status finish_write(FileContext& file, Target& target, Status mine, const Status& misfit,
                    std::int64_t records, bool durable, bool closes = false,
                    bool completes = false) {
    Storage& storage = *target.storage;
    const bool counts = records != records_as_before;
    if (mine.ok() && completes) storage.complete_records();
    if (mine.ok()) mine = catch_errors([&] { return storage.end_unit(records, counts); });
    if (Placement* const placement = storage.placement())
        mine = place_chunks(file.team.world(), target.writers.front(), *placement, std::move(mine));
    if (durable) {  // Some drivers sync collectively, so a rank that failed must take part.
        Status synced = storage.sync();
        if (mine.ok()) mine = std::move(synced);
    }
    if (mine.ok() && closes) mine = storage.close_early();
    std::int64_t words[2] = {mine.ok() ? 0 : 1, misfit.ok() ? 0 : 1};
    const auto count = [&](std::span<std::int64_t> all) {
        if (all[0] != 0) return;
        mine = publish_records(storage, records, durable, closes, completes);
        all[0] = mine.ok() ? 0 : 1;
    };
    const bool by_header_writer = counts && storage.traits().header_writer_counts;
    {
        Stopwatch watch(file.figures.times[FileTimes::wait]);
        if (by_header_writer)
            file.team.all_reduce(words, Reduce::max, target.writers.front(), std::ref(count));
        else
            file.team.all_reduce(words, Reduce::max);
    }
    if (words[0] != 0) return file.keep(agree(file.team.world(), mine));
    if (counts && !by_header_writer)
        if (Status s =
                file.team.agree(publish_records(storage, records, durable, closes, completes));
            !s.ok())
            return file.keep(std::move(s));
    return words[1] != 0 ? agree(file.team.world(), misfit) : Status{};
}

}  // namespace

InlineService::InlineService(FileContext& file, Target& target, Batch& batch)
    : file_(file),
      target_(target),
      batch_(batch),
      progress_(file.definitions, file.existing),
      copies_(file.copies ? file.copies : std::make_shared<NodeCopies>()),
      staged_(file, batch, target.order, *copies_),
      writer_(file, target, progress_, *copies_),
      collective_(file, batch, writer_, progress_) {}

Status InlineService::begin(Status mine) {
    if (Status s = writer_.begin(std::move(mine)); !s.ok()) return s;
    const std::int64_t bytes = file_.most_step_bytes;
    immediate_ = bytes > file_.options.staging;
    if (!file_.copies)
        copies_->begin(file_.team, file_.session, immediate_ ? 0 : bytes, file_.options.staging);
    if (immediate_ && file_.team.rank() == 0)
        log::info(
            "{}: a step has up to {} bytes per rank, more than 'staging' ({}): tw_put is "
            "collective; a deferred put stays local",
            file_.path, bytes, file_.options.staging);
    return {};
}

Status InlineService::agree(Call call, int variable, const Status& mine, Agreed& agreed) {
    writer_.prepare();
    batch_.in_arrays = !copies_->list(batch_);
    Status status = agree_on(file_, batch_, call, variable, mine, agreed);
    if (agreed.boxed && !boxed_) begin_records();
    if (agreed.by_itself) note_written_alone();
    return status;
}

/// Prepares to write sections and records: some rank has put one, so any step may contain more.
void InlineService::begin_records() {
    target_.storage->begin_boxes();
    boxed_ = batch_.boxed = true;
    progress_.keep_records();
    progress_.note_counted(progress_.records());
}

/// Treats all variables that a rank can write by itself as written, so that nothing overwrites
/// their elements with fill values.
void InlineService::note_written_alone() {
    batch_.by_itself = true;
    for (int v = 0; v < std::ssize(file_.definitions.variables); ++v)
        if (stays_hole(file_.variable(v))) progress_.add_all({v, 0});
}

// ---- puts ---------------------------------------------------------------------------------------

Status InlineService::put(const Status& checked, const PartsToPut& put) {
    // Ranks whose own check failed join the collective put.
    if (put.by_put && immediate_ && !put.deferred) return put_now(checked, put.part);
    if (!checked.ok()) return checked;
    if (put.by_put) return staged_.add_put(put.part, put.deferred);
    return put.alone ? write_alone(put.part) : put_parts(put);
}

/// Writes a variable at once. @note Collective
Status InlineService::put_now(const Status& checked, const Part& part) {
    Agreed agreed;
    const int variable = part.variable;
    if (Status s = agree(Call::put, variable, checked, agreed); !s.ok()) return s;
    if (Status s = staged_.add_put(part, true); !s.ok()) return s;
    agreed.put[variable] = true;
    agreed.copied = false;
    Status status = write(agreed, Ends::put, false);
    batch_.parts.erase({variable, part.record});
    staged_.reuse();
    batch_[variable].put = false;
    batch_[variable].written = true;
    return status;
}

Status InlineService::put_parts(const PartsToPut& put) {
    if (!target_.storage->traits().takes_boxes)
        return file_.in_variable(
            failure(TW_ESTATE,
                    "tw_put_box and tw_put_record do not work with storage={}; use posix",
                    target_.storage->traits().name),
            put.part.variable);
    if (put.records == 0) return {};
    if (Status s = staged_.check_room(put.part, put.records); !s.ok()) return s;
    Status status = batch_.for_parts(
        put, [&](const Part& part) { return staged_.add(part, put.deferred, put.borrowed); });
    return status.ok() ? batch_.keep_misfits(true) : status;
}

Status InlineService::write_alone(const Part& part) {
    if (!can_write_box(file_, target_, part) ||
        batch_.find({part.variable, part.record}) != nullptr)
        return failure(
            TW_EUNSUPPORTED, "{}: variable '{}' cannot be written by one rank alone (rank {})",
            file_.path, OfVariable{file_.variable(part.variable).name}, OfRank{file_.team.rank()});
    batch_.boxed = batch_.by_itself = true;
    batch_[part.variable].boxed = true;
    if (Status s = writer_.write_alone(part, batch_.misfits); !s.ok())
        return file_.keep(std::move(s));
    return batch_.keep_misfits(true);
}

// ---- collective calls ---------------------------------------------------------------------------

Status InlineService::end_step() {
    Agreed agreed;
    if (Status s = agree(Call::end_step, -1, batch_.check_deferred(true), agreed); !s.ok())
        return s;
    if (!boxed_)
        if (Status s = file_.check_record(-1, batch_.record); !s.ok()) return file_.keep(s);
    return write(agreed, Ends::step, file_.options.durable);
}

Status InlineService::sync(bool durable) {
    Agreed agreed;
    if (Status s = agree(Call::sync, -1, batch_.check_deferred(false), agreed); !s.ok()) return s;
    return write(agreed, Ends::sync, durable);
}

Status InlineService::fill(std::span<const int> variables) {
    // The ranks do not agree on puts before this write.
    writer_.prepare();
    file_.team.barrier();
    Status written;
    if (merge_) {
        written = merge_->fill(variables);
    } else {
        writer_.begin_pass(false);
        for (const int v : variables)
            writer_.set(writer_.sections().of(false).place_of(v),
                        classify({.has_values = progress_.has_values({v, 0}),
                                  .ends = true,
                                  .hole = writer_.fills(v)}));
        written = writer_.write(0, batch_.misfits);
    }
    for (const int v : variables) progress_.add_all({v, 0});
    const std::int64_t records = boxed_ ? progress_.counted() : batch_.record;
    return finish_write(file_, target_, std::move(written), {}, records, false);
}

Status InlineService::hand_over(Agreed& agreed) {
    Status misfit, mine = batch_.check_deferred(false);
    const bool closes = target_.storage->traits().closes_early;
    // Usually nothing is left to write, so the agreement on the call can also say if all ranks
    // could close the file.
    if (closes && mine.ok() && !file_.options.durable) mine = target_.storage->close_early();
    Status status = agree(Call::close, -1, mine, agreed);
    const bool steps = batch_.step_is_open(agreed);
    if (status.ok()) status = end_open_step(*this, file_, batch_, agreed, misfit);
    const bool writes = status.ok() && !is_complete(agreed);
    if (writes) status = write(agreed, Ends::file, file_.options.durable);
    agreed.closed_early = closes && status.ok() && (writes || !steps);
    return status.ok() ? misfit : status;
}

/// Tests if a close has nothing to write: all steps have ended, and all fixed-size variables are
/// written.
/// @return the same on every rank
bool InlineService::is_complete(const Agreed& agreed) const {
    if (boxed_ || file_.options.durable || !target_.storage->traits().opens_alone) return false;
    for (const Variable& v : file_.definitions.variables)
        if (v.packing.cmip7 > 0) return false;  // records wait for others in their chunks
    if (batch_.file_records > progress_.records()) return false;
    for (std::size_t v = 0; v < agreed.put.size(); ++v)
        if (agreed.put[v] ||
            (!batch_.is_record(v) && !progress_.has_values({static_cast<int>(v), 0})))
            return false;
    return true;
}

/// Writes the puts that belong to the unit that this call ends.
/// @note Collective
Status InlineService::write(const Agreed& agreed, Ends ends, bool durable) {
    const bool rest = collective_.find(agreed, ends, boxed_);
    const bool merges = rest || (merge_ && ends == Ends::file);
    if (merges && !merge_) merge_.emplace(file_, target_, writer_.sections(), progress_);
    std::int64_t records = collective_.records_after(agreed, ends, boxed_);
    // A merge fills new records itself.
    const std::int64_t complete = merges ? progress_.records() : records;
    Status mine = collective_.write(complete, !merges && ends == Ends::file, ends == Ends::sync);
    if (merges) {
        if (mine = file_.team.agree(mine); !mine.ok()) return file_.keep(std::move(mine));
        mine = write_parts(agreed, ends, records);
    }
    return end_write(ends, records, durable, std::move(mine));
}

/// Writes the parts that are not written together.
/// @param records  raised to the number of records that the parts of all ranks need
/// @note Collective
Status InlineService::write_parts(const Agreed& agreed, Ends ends, std::int64_t& records) {
    std::vector<Part> rest;
    const Status packed = staged_.pack_rest(collective_, agreed, ends, rest, records);
    // Even after a failure, all ranks count the same number of records.
    file_.team.all_reduce({&records, 1}, Reduce::max);
    if (Status s = file_.team.agree(packed); !s.ok()) return s;
    Status status = merge_->write(rest, records, ends == Ends::file);
    progress_.note_records(records);
    if (ends != Ends::put) progress_.note_values();  // the merge has filled fixed-size variables
    return status;
}

/// Gives all ranks the outcome of the write, and counts records. @note Collective
Status InlineService::end_write(Ends ends, std::int64_t records, bool durable, Status mine) {
    const bool puts = ends == Ends::put;
    const Status misfit = batch_.first_misfit(puts || ends == Ends::step || boxed_);
    // Chunks that are written whole are written when the records are counted.
    const bool whole = has_chunks(file_.format) && needs_whole_chunks(file_.definitions);
    const bool counts = !puts && (records != progress_.counted() || durable || whole);
    Status status =
        finish_write(file_, target_, std::move(mine), misfit, counts ? records : records_as_before,
                     durable, ends == Ends::file && target_.storage->traits().closes_early,
                     durable || ends == Ends::sync || ends == Ends::file);
    if (puts) return status;
    staged_.drop();
    batch_.forget_puts(ends == Ends::step);
    if (!file_.failed.ok()) return status;
    progress_.note_counted(records);
    batch_.note_records(records);
    if (ends == Ends::step) {
        if (!writer_.sections().record.places.empty()) ++batch_.record;
        ++file_.figures.steps;
    }
    return status;
}

Status InlineService::close(bool, bool good) {
    return target_.storage->close(progress_.counted(), good ? file_.late : LateAttributes{});
}

void InlineService::add_figures(FileFigures& f) const {
    writer_.add_figures(f);
    f.staging_bytes = staged_.bytes();
    const WriteCounts& counts = target_.storage->counts();
    f.times[FileTimes::write] = counts.seconds;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
}

}  // namespace thalweg::detail
