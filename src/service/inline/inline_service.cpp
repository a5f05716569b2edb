// SPDX-License-Identifier: Apache-2.0
#include "service/inline/inline_service.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.hpp"
#include "base/trace.hpp"
#include "definitions/fill.hpp"
#include "exchange/pack.hpp"
#include "service/inline/box_writer.hpp"
#include "storage/chunked/chunk_grid.hpp"

namespace thalweg::detail {

namespace {

std::int64_t bytes_of(const Variable& v, const Holding& holding) {
    return holding.elements * v.element();
}

}  // namespace

InlineService::InlineService(FileContext& file, Target& target, Batch& batch)
    : file_(file),
      target_(target),
      batch_(batch),
      progress_{std::vector<char>(file.definitions.variables.size(), file.existing.is),
                batch.record},
      step_copies_(file.session.spare_copies),
      copies_(file.session.spare_copies),
      copy_of_(file.definitions.variables.size(), nullptr),
      writer_(file, target),
      together_(file, batch, writer_, progress_) {}

Status InlineService::begin(Status mine) {
    if (Status s = writer_.begin(std::move(mine)); !s.ok()) return s;
    step_copies_.expect(file_.step_bytes());
    const std::int64_t bytes = file_.most_step_bytes;
    immediate_ = bytes > file_.options.staging;
    if (immediate_ && file_.team.rank() == 0)
        log::info(
            "{}: a step has up to {} bytes per rank, more than 'staging' ({}): tw_put is "
            "collective; a deferred put stays local",
            file_.path, bytes, file_.options.staging);
    return {};
}

Status InlineService::agree(Call call, int variable, const Status& mine, Agreed& agreed) {
    writer_.prepare();
    Status status = agree_on(file_, batch_, call, variable, mine, agreed);
    if (agreed.boxed && !boxed_) begin_records();
    if (agreed.by_itself && !alone_) note_written_alone();
    return status;
}

/// Prepares to write sections and records: some rank has put one, so any step may contain more.
void InlineService::begin_records() {
    target_.storage->begin_boxes();
    boxed_ = batch_.boxed = true;
    progress_.records = std::max(batch_.record, file_.existing.kept);
}

/// Treats all variables that a rank can write by itself as written, so that nothing overwrites
/// their elements with fill values.
void InlineService::note_written_alone() {
    alone_ = batch_.by_itself = true;
    for (std::size_t v = 0; v < progress_.filled.size(); ++v) {
        if (!stays_hole(file_.variable(v)) || std::exchange(progress_.filled[v], 1)) continue;
        if (rest_) rest_->note_written(v, 0);
    }
}

// ---- puts ---------------------------------------------------------------------------------------

/// Keeps the address of an array that is deferred, or a packed copy of its values.
/// @param copy  memory for the values; if null, receives newly taken memory
Status InlineService::stage(const Part& part, bool deferred, StagingMemory& memory, char*& copy,
                            WaitingPart& waiting) {
    const Variable& v = file_.variable(part.variable);
    Fingerprint fingerprint;
    if (deferred) {
        const Holding& h = *part.holding;
        fingerprint = Fingerprint(*h.decomposition, h.order, h.held, part.array);
    } else if (part.has_any()) {
        const std::int64_t bytes = bytes_of(v, *part.holding);
        if (copy == nullptr) copy = memory.take(bytes);
        if (copy == nullptr)
            return failure(
                TW_ENOMEM, "{}: variable '{}': out of memory: {} bytes for copies (rank {})",
                OfFile{file_.path}, OfVariable{v.name}, bytes, OfRank{file_.team.rank()});
        Span span("pack");
        span.variable(v.name).bytes(bytes);
        batch_.misfits[part.variable] += pack(file_.packers, v, target_.order, part, copy);
    }
    static_cast<Part&>(waiting) = part;
    waiting.packed = deferred || !part.has_any() ? nullptr : copy;
    waiting.deferred = deferred;
    waiting.fingerprint = std::move(fingerprint);
    return {};
}

Status InlineService::put(const Status& checked, const PartsToPut& put) {
    if (put.by_put) return put_in_step(checked, put.part, put.deferred);
    if (!checked.ok()) return checked;
    return put.alone ? write_alone(put.part) : put_parts(put);
}

Status InlineService::put_in_step(const Status& checked, const Part& part, bool deferred) {
    // Ranks whose own check failed join the collective put.
    if (immediate_ && !deferred) return put_now(checked, part);
    if (!checked.ok()) return checked;
    batch_.misfits[part.variable] = 0;
    WaitingPart waiting;
    if (Status s = stage(part, deferred, step_copies_, copy_of_[part.variable], waiting); !s.ok())
        return s;
    waiting.by_put = true;
    std::vector<WaitingPart>& parts =
        batch_.parts.try_emplace({part.variable, part.record}, 1).first->second;
    parts.resize(1);
    parts.front() = std::move(waiting);
    batch_[part.variable].put = true;
    return {};
}

/// Writes a variable at once. @note Collective
Status InlineService::put_now(const Status& checked, const Part& part) {
    Agreed agreed;
    const int variable = part.variable;
    if (Status s = agree(Call::put, variable, checked, agreed); !s.ok()) return s;
    if (batch_.find_put(variable) != nullptr)  // the variable waits in this step as a deferred put
        batch_.parts.erase({variable, part.record});
    const bool record = batch_.is_record(variable);
    Status written;
    if (!boxed_ || together_.is_safe(together_.declared(variable)))
        written = write_now(part);
    else
        written = merge_now(part);
    if (!file_.failed.ok()) return written;
    Status status = finish_write(file_, target_, std::move(written), batch_.take_misfits(true),
                                 records_as_before, false);
    batch_[variable].put = false;
    batch_[variable].written = true;
    if (!record) progress_.filled[variable] = 1;
    return status;
}

/// Writes a variable with all ranks together.
/// @return this rank's own failure, or one that the file keeps (FileContext::keep)
/// @note Collective
Status InlineService::write_now(const Part& part) {
    const bool record = batch_.is_record(part.variable);
    if (boxed_) {
        const WholePut declared = together_.declared(part.variable);
        if (Status s = writer_.choose({&declared, 1}); !s.ok()) return file_.keep(std::move(s));
    }
    writer_.begin_pass(record);
    writer_.set(writer_.spaces().of(record).place_of(part.variable), Action::data,
                part.has_any() ? &part : nullptr);
    Status written = writer_.write(part.record, batch_.misfits);
    if (!written.ok() || !rest_) return written;
    return alone([&]() -> Status {
        rest_->note_written(part.variable, part.record);
        return {};
    });
}

/// Writes a variable, and keeps the file's values of elements that no rank holds.
/// @return this rank's own failure, or one that the file keeps (FileContext::keep)
/// @note Collective
Status InlineService::merge_now(const Part& part) {
    if (Status s = begin_rest(); !s.ok()) return file_.keep(std::move(s));
    std::vector<char> values;
    std::vector<Part> parts;
    const Status packed = file_.team.agree(alone([&]() -> Status {
        if (!part.has_any()) return {};
        values.resize(bytes_of(file_.variable(part.variable), *part.holding));
        WaitingPart made;
        char* copy = values.data();
        if (Status s = stage(part, false, copies_, copy, made); !s.ok()) return s;
        parts.push_back(made);
        return {};
    }));
    if (!packed.ok()) return file_.keep(packed);
    return rest_->write(parts, progress_.records, false);
}

/// Returns the bytes of the setting "staging" that a part uses, including its boxes' descriptions
/// in messages.
std::int64_t InlineService::needed_for(const Part& part) const {
    constexpr std::int64_t description = 256;
    std::int64_t bytes = bytes_of(file_.variable(part.variable), *part.holding);
    for (const HeldBox& held : part.holding->packed)
        bytes += description + (held.list ? 16 * std::ssize(held.list->list->runs) : 0);
    return bytes;
}

/// Finds the waiting part that a new one replaces: an earlier put of the same record, by the same
/// decomposition. Null if there is none.
WaitingPart* InlineService::replaced_by(const Part& part) {
    std::vector<WaitingPart>* const there = batch_.find({part.variable, part.record});
    const bool again = there != nullptr && there->size() == 1 && part.holding->key != 0 &&
                       there->front().holding->key == part.holding->key;
    return again ? &there->front() : nullptr;
}

/// Checks that there is room for a part, and for similar parts in `records` records.
Status InlineService::check_room(const Part& part, std::int64_t records) {
    if (records == 1 && replaced_by(part) != nullptr) return {};
    const std::int64_t needed = needed_for(part), limit = file_.options.staging;
    if (needed == 0 || (limit - batch_.waiting) / needed >= records) return {};
    return too_much_put(file_, file_.variable(part.variable), "staging", limit);
}

Status InlineService::put_part(const Part& part, bool deferred) {
    WaitingPart* const old = replaced_by(part);
    WaitingPart made;
    char* copy = old != nullptr ? const_cast<char*>(old->packed) : nullptr;
    if (Status s = stage(part, deferred, copies_, copy, made); !s.ok()) return s;
    made.bytes = old != nullptr ? old->bytes : needed_for(part);
    if (old != nullptr) {
        *old = std::move(made);
        return {};
    }
    batch_.waiting += made.bytes;
    const Batch::Key key{part.variable, part.record};
    if (std::vector<WaitingPart>* const there = batch_.find(key); there != nullptr)
        there->push_back(std::move(made));
    else
        batch_.parts.try_emplace(key, 1).first->second.front() = std::move(made);
    return {};
}

Status InlineService::put_parts(const PartsToPut& put) {
    if (!target_.storage->takes_boxes())
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put_box and tw_put_record do not work with "
                       "storage={}; use posix (rank {})",
                       file_.path, OfVariable{file_.variable(put.part.variable).name},
                       target_.storage->name(), OfRank{file_.team.rank()});
    if (put.records == 0) return {};
    if (Status s = check_room(put.part, put.records); !s.ok()) return s;
    Status status =
        batch_.for_parts(put, [&](const Part& part) { return put_part(part, put.deferred); });
    if (!status.ok()) return status;
    status = batch_.take_misfits(true);
    if (misfit_.ok()) misfit_ = status;
    return status;
}

/// Tests if the place of a part in the file is known, and if no other data or fill values are
/// written there without a look at the file.
bool InlineService::can_write_alone(const Part& part) const {
    return target_.storage->opens_alone() && !is_netcdf4(file_.format) &&
           !file_.options.checksums && !file_.several_files() && !file_.existing.is &&
           stays_hole(file_.variable(part.variable)) && part.boxes().size() == 1 &&
           part.boxes().front().list == nullptr &&
           batch_.parts.find({part.variable, part.record}) == batch_.parts.end();
}

Status InlineService::write_alone(const Part& part) {
    if (!can_write_alone(part))
        return failure(
            TW_EUNSUPPORTED, "{}: variable '{}' cannot be written by one rank alone (rank {})",
            file_.path, OfVariable{file_.variable(part.variable).name}, OfRank{file_.team.rank()});
    batch_.boxed = batch_.by_itself = true;
    batch_[part.variable].boxed = true;
    std::int64_t& misfits = batch_.misfits[part.variable];
    if (Status s = write_box(file_, target_, part, misfits); !s.ok())
        return file_.keep(std::move(s));
    Status status = batch_.take_misfits(true);
    if (misfit_.ok()) misfit_ = status;
    return status;
}

// ---- meetings -----------------------------------------------------------------------------------

Status InlineService::end_step(bool) {
    Agreed agreed;
    if (Status s = agree(Call::end_step, -1, batch_.check_deferred(true), agreed); !s.ok())
        return s;
    if (!boxed_)
        if (Status s = file_.check_next_record(batch_.record); !s.ok()) return file_.keep(s);
    return write(agreed, Ends::step, file_.options.durable);
}

Status InlineService::sync(bool durable) {
    Agreed agreed;
    if (Status s = agree(Call::sync, -1, batch_.check_deferred(false), agreed); !s.ok()) return s;
    return write(agreed, Ends::sync, durable);
}

/// Prepares a write of fill values, before which the ranks do not agree on puts. @note Collective
void InlineService::prepare_fills() {
    writer_.prepare();
    file_.team.barrier();
}

Status InlineService::fill(std::span<const int> variables) {
    prepare_fills();
    Status written;
    if (rest_) {  // after this, the writers know which variables have been filled
        written = alone([&] { return rest_->fill(variables); });
    } else {
        writer_.begin_pass(false);
        for (const int v : variables)
            if (!std::exchange(progress_.filled[v], 1))
                writer_.set(writer_.spaces().of(false).place_of(v), Action::fill);
        written = writer_.write(0, batch_.misfits);
    }
    const std::int64_t records = boxed_ ? progress_.records : batch_.record;
    return finish_write(file_, target_, std::move(written), {}, records, false);
}

Status InlineService::hand_over(Agreed& agreed) {
    Status misfit;
    Status status = agree(Call::close, -1, batch_.check_deferred(false), agreed);
    if (status.ok()) status = end_open_step(*this, file_, batch_, agreed, misfit);
    if (status.ok() && !is_complete(agreed))
        status = write(agreed, Ends::file, file_.options.durable);
    return status.ok() ? misfit : status;
}

/// Tests if a close has nothing to write: all steps have ended, and all fixed-size variables are
/// written.
/// @return the same on every rank
bool InlineService::is_complete(const Agreed& agreed) const {
    if (boxed_ || file_.options.durable || !target_.storage->opens_alone()) return false;
    if (batch_.file_records > progress_.records) return false;
    for (std::size_t v = 0; v < progress_.filled.size(); ++v)
        if (agreed.put[v] || (!batch_.is_record(v) && progress_.filled[v] == 0)) return false;
    return true;
}

/// Writes the puts that belong to the unit (step, sync or close) that this call ends.
/// @note Collective
Status InlineService::write(const Agreed& agreed, Ends ends, bool durable) {
    bool rest = false;
    if (Status s = together_.find(agreed, ends, boxed_, rest); !s.ok())
        return file_.keep(std::move(s));
    const bool merges = rest || (rest_ && ends == Ends::file);
    if (merges)
        if (Status s = begin_rest(); !s.ok()) return file_.keep(std::move(s));
    std::int64_t records = records_after(agreed, ends);
    // A merge fills new records itself.
    const std::int64_t complete = merges ? progress_.records : records;
    Status mine = together_.write(complete, !merges && ends == Ends::file);
    if (mine.ok() && rest_)
        mine = alone([&]() -> Status {
            for (const WholePut& p : together_.puts()) rest_->note_written(p.variable, p.record);
            rest_->note_records(complete);
            return {};
        });
    if (merges) {
        if (mine = file_.team.agree(mine); !mine.ok()) return file_.keep(std::move(mine));
        mine = write_parts(ends, records);
    }
    return end_write(ends, records, durable, std::move(mine));
}

/// Returns the number of records that the file has when the batch is written, as far as this rank
/// knows. It is the same on all ranks if the whole batch is written together.
std::int64_t InlineService::records_after(const Agreed& agreed, Ends ends) const {
    std::int64_t records = std::max(progress_.records, batch_.file_records);
    for (const WholePut& p : together_.puts())
        if (batch_.is_record(p.variable)) records = std::max(records, p.record + 1);
    // Each step is a record in a file that only tw_put writes.
    const bool ends_record = ends == Ends::step && (batch_.step_is_open(agreed) || !boxed_);
    if (ends_record && !writer_.spaces().record.places.empty())
        records = std::max(records, batch_.record + 1);
    return records;
}

/// Creates the writer for parts that are not written together.
/// @note Collective; the status is the same on every rank
Status InlineService::begin_rest() {
    if (rest_) return {};
    Status status = file_.team.agree(alone([&]() -> Status {
        rest_.emplace(file_, target_, writer_.spaces());
        rest_->begin(progress_.records, progress_.filled);
        for (std::size_t v = 0; v < batch_.puts.size(); ++v)
            if (batch_.is_record(v) && batch_.puts[v].written)
                rest_->note_written(v, batch_.record);
        return {};
    }));
    if (!status.ok()) rest_.reset();
    return status;
}

/// Packs deferred parts that are not written together.
/// @param records  raised to the number of records that the parts of this rank need
Status InlineService::pack_rest(Ends ends, std::vector<Part>& rest, std::int64_t& records) {
    for (auto& [key, parts] : batch_.parts) {
        const bool later =
            parts.front().by_put && batch_.is_record(key.first) && ends != Ends::step;
        if (later || together_.has(parts.front())) continue;
        for (WaitingPart& part : parts) {
            char* copy = const_cast<char*>(part.packed);
            if (part.has_any() && copy == nullptr)
                if (Status s = stage(Part(part), false, copies_, copy, part); !s.ok()) return s;
            if (batch_.is_record(part.variable)) records = std::max(records, part.record + 1);
            if (part.has_any()) rest.push_back(part);
        }
    }
    return {};
}

/// Writes the parts that are not written together.
/// @param records  raised to the number of records that the parts of all ranks need
/// @note Collective
Status InlineService::write_parts(Ends ends, std::int64_t& records) {
    std::vector<Part> rest;
    const Status packed = alone([&] { return pack_rest(ends, rest, records); });
    // Even after a failure, all ranks count the same number of records.
    file_.team.all_reduce({&records, 1}, Reduce::max);
    if (Status s = file_.team.agree(packed); !s.ok()) return s;
    Status status = rest_->write(rest, records, ends == Ends::file);
    std::fill(progress_.filled.begin(), progress_.filled.end(), 1);  // the merge has filled them
    return status;
}

/// Gives all ranks the outcome of the write, and counts records. @note Collective
Status InlineService::end_write(Ends ends, std::int64_t records, bool durable, Status mine) {
    const Status found = batch_.take_misfits(ends == Ends::step || boxed_);
    const Status misfit = misfit_.ok() ? found : std::exchange(misfit_, {});
    misfit_ = {};
    // Chunks that are written whole are written when the records are counted.
    const bool whole = is_netcdf4(file_.format) && needs_whole_chunks(file_.definitions);
    const bool counts = records != progress_.records || durable || whole;
    Status status = finish_write(file_, target_, std::move(mine), misfit,
                                 counts ? records : records_as_before, durable);
    std::erase_if(batch_.parts, [](const auto& entry) { return !entry.second.front().by_put; });
    batch_.waiting = 0;
    copies_.give_back();
    batch_.forget_puts(ends == Ends::step);
    if (!file_.failed.ok()) return status;
    progress_.records = records;
    batch_.note_records(records);
    for (Batch::Put& p : batch_.puts) p.boxed = false;
    if (ends == Ends::step) {
        if (!writer_.spaces().record.places.empty()) ++batch_.record;
        ++file_.figures.steps;
    }
    return status;
}

Status InlineService::close(bool, bool good) {
    return target_.storage->close(progress_.records, good ? file_.late : LateAttributes{});
}

// ---- change to another service ------------------------------------------------------------------

/// Tests if another service can take over. It cannot if tw_put is collective, as it is local in
/// other services; if parts wait, or some parts were not written together; or if sections were put
/// while a fixed-size variable is incomplete.
bool InlineService::is_at_rest() const {
    if (immediate_ || rest_ || !batch_.parts.empty()) return false;
    return !boxed_ || std::all_of(progress_.filled.begin(), progress_.filled.end(),
                                  [](char is) { return is != 0; });
}

Status InlineService::end_at_rest(std::int64_t& records) {
    records = progress_.records;
    if (boxed_) return {};
    prepare_fills();
    together_.clear();
    Status written = together_.write(progress_.records, true);
    return finish_write(file_, target_, std::move(written), batch_.take_misfits(false),
                        records_as_before, false);
}

void InlineService::add_figures(FileFigures& f) const {
    writer_.add_figures(f);
    f.staging_bytes = step_copies_.bytes() + copies_.bytes();
    const WriteCounts& counts = target_.storage->counts();
    f.write = counts.seconds;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
}

}  // namespace thalweg::detail
