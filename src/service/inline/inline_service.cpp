// SPDX-License-Identifier: Apache-2.0
#include "service/inline/inline_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace thalweg::detail {

InlineService::InlineService(FileContext& file, Target& target, Batch& batch)
    : file_(file),
      target_(target),
      batch_(batch),
      progress_{std::vector<char>(file.definitions.variables.size(), file.existing.is),
                batch.record},
      staging_(file),
      writer_(file, target),
      local_(file, target, batch, progress_),
      mixed_(file, target, batch, writer_, local_, progress_) {}

Status InlineService::begin() {
    if (Status s = writer_.begin(); !s.ok()) return s;
    std::int64_t bytes = staging_.bytes();
    file_.team.all_reduce({&bytes, 1}, Reduce::max);
    immediate_ = bytes > file_.options.staging;
    if (immediate_ && file_.team.rank() == 0)
        log::info(
            "{}: a step has up to {} bytes per rank, more than 'staging' ({}): tw_put is "
            "collective; tw_put_deferred stays local",
            file_.path, bytes, file_.options.staging);
    return {};
}

Status InlineService::agree(Call call, int variable, const Status& mine, Agreed& agreed) {
    (void)poll();
    writer_.prepare();
    Status status = agree_on(file_, batch_, call, variable, mine, agreed);
    if (agreed.boxed && !mixed_.turned())
        if (Status turned = mixed_.turn(); !turned.ok()) return turned;
    if (!mixed_.turned() && !batch_.boxed) local_.drop_queue();
    return status;
}

Status InlineService::put(Status checked, int variable, ArrayView view, bool deferred) {
    if (mixed_.turned() && immediate_) {
        if (checked.ok()) checked = alone([&] { return local_.make_queue(); });
        return local_.queue() ? local_.queue()->put(std::move(checked), variable, view, deferred)
                              : checked;
    }
    // A collective put is joined by the ranks whose own check failed, too.
    if (immediate_ && !deferred) return put_now(std::move(checked), variable, view);
    if (!checked.ok()) return checked;
    std::int64_t& misfits = batch_.misfits[variable];
    misfits = 0;
    if (!deferred) {
        if (Status s = staging_.copy(variable, view, misfits); !s.ok()) return s;
    }
    batch_[variable].view = view;
    batch_[variable].put = true;
    return {};
}

Status InlineService::put_now(Status checked, int variable, const ArrayView& view) {
    Agreed agreed;
    if (Status s = agree(Call::put, variable, checked, agreed); !s.ok()) return s;
    if (mixed_.turned()) return put({}, variable, view, false);
    Batch::Part& part = batch_[variable];
    const bool record = file_.variable(variable).record;
    part.view = view;
    part.put = true;
    writer_.begin_pass(record);
    writer_.set(writer_.spaces().of(record).place_of(variable), Action::data, array_of(variable));
    Status written = writer_.write(record ? batch_.record : 0, batch_.misfits);
    Status status = finish_write(file_, target_, std::move(written), batch_.take_misfits(true),
                                 records_as_before, false);
    part.put = false;
    part.written = true;
    if (!record) progress_.filled[variable] = 1;
    return status;
}

Status InlineService::allow_boxes(int variable) const {
    if (target_.storage->takes_boxes()) return {};
    return failure(TW_ESTATE,
                   "{}: variable '{}': tw_put_box and tw_put_record do not work with storage={}; "
                   "use posix (rank {})",
                   file_.path, file_.variable(variable).name, target_.storage->name(),
                   file_.team.rank());
}

/// What this rank has put of a variable; null if it has nothing of it.
const ArrayView* InlineService::array_of(int variable) const {
    const bool has = batch_[variable].put && file_.variable(variable).decomposition->held > 0;
    return has ? &batch_[variable].view : nullptr;
}

/// Writes the fixed-size variables that were put; with `last`, fills those that never were.
/// @param agreed  null: nothing was put
Status InlineService::write_fixed(const Agreed* agreed, bool last) {
    writer_.begin_pass(false);
    const std::span<const Place> places = writer_.places();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int v = places[i].variable;
        if (agreed != nullptr && agreed->put[v])
            writer_.set(i, Action::data, array_of(v));
        else if (last && !progress_.filled[v])
            writer_.set(i, Action::fill);
        else
            continue;
        progress_.filled[v] = 1;
    }
    return writer_.write(0, batch_.misfits);
}

/// Writes the record at hand, but for what collective puts have written of it.
Status InlineService::write_record(const Agreed& agreed) {
    writer_.begin_pass(true);
    const std::span<const Place> places = writer_.places();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int v = places[i].variable;
        if (agreed.put[v])
            writer_.set(i, Action::data, array_of(v));
        else if (!batch_[v].written)
            writer_.set(i, Action::fill);
    }
    return writer_.write(batch_.record, batch_.misfits);
}

Status InlineService::end_step() {
    Agreed agreed;
    if (Status s = agree(Call::end_step, -1, batch_.check_deferred(true), agreed); !s.ok())
        return s;
    if (mixed_.turned())
        return mixed_.write(agreed, MixedBatch::Ends::step, file_.options.durable, immediate_);
    if (Status s = file_.check_next_record(batch_.record); !s.ok()) return file_.keep(s);
    Status status = write_fixed(&agreed, false);
    Status record = write_record(agreed);
    if (status.ok()) status = std::move(record);
    const bool has_records = !writer_.spaces().record.places.empty();
    const Status misfit = batch_.take_misfits(has_records);
    status =
        finish_write(file_, target_, std::move(status), misfit,
                     has_records ? batch_.record + 1 : records_as_before, file_.options.durable);
    if (file_.failed.ok() && has_records) progress_.records = ++batch_.record;
    batch_.forget(true);
    ++file_.figures.steps;
    return status;
}

Status InlineService::sync(bool durable) {
    Agreed agreed;
    if (Status s = agree(Call::sync, -1, batch_.check_deferred(false), agreed); !s.ok()) return s;
    if (mixed_.turned()) return mixed_.write(agreed, MixedBatch::Ends::sync, durable, immediate_);
    Status written = write_fixed(&agreed, false);
    Status status = finish_write(file_, target_, std::move(written), batch_.take_misfits(false),
                                 batch_.record, durable);
    for (std::size_t i = 0; i < batch_.parts.size(); ++i)
        if (!batch_.is_record(i)) batch_.parts[i].put = false;
    return status;
}

/// Before a pass of fill values that no agreement precedes. @note Collective
Status InlineService::prepare_fills() {
    writer_.prepare();
    return file_.keep(file_.team.agree(alone([&]() -> Status {
        writer_.make_room();
        return {};
    })));
}

Status InlineService::fill(std::span<const int> variables) {
    if (mixed_.joined()) return local_.queue()->fill(variables);
    if (Status ready = prepare_fills(); !ready.ok()) return ready;
    writer_.begin_pass(false);
    std::vector<WholeVariable> filled;
    Status status = alone([&]() -> Status {
        filled.reserve(variables.size());
        return {};
    });
    for (const int v : variables) {
        if (progress_.filled[v] != 0) continue;
        writer_.set(writer_.spaces().of(false).place_of(v), Action::fill);
        progress_.filled[v] = 1;
        if (status.ok()) filled.push_back({v, 0});
    }
    Status written = writer_.write(0, batch_.misfits);
    if (status.ok()) status = std::move(written);
    if (status.ok() && local_.queue() != nullptr)
        status = alone([&]() -> Status {
            local_.queue()->note_written(filled, progress_.records);
            return {};
        });
    return finish_write(file_, target_, std::move(status), {}, records(), false);
}

Status InlineService::agree_to_close(Agreed& agreed) {
    return agree(Call::close, -1, batch_.check_deferred(false), agreed);
}

Status InlineService::write_rest(const Agreed& agreed) {
    if (mixed_.turned())
        return mixed_.write(agreed, MixedBatch::Ends::file, file_.options.durable, immediate_);
    Status written = write_fixed(&agreed, true);
    return finish_write(file_, target_, std::move(written), batch_.take_misfits(false),
                        records_as_before, file_.options.durable);
}

Status InlineService::close(bool good) {
    if (mixed_.joined()) return local_.queue()->close(good);
    return target_.storage->close(progress_.records, good ? file_.late : LateAttributes{});
}

/// Not where tw_put is collective, as it is local with other services; nor where boxes may be parts
/// of records to come.
bool InlineService::is_at_rest() const {
    if (immediate_ || local_.queue() != nullptr || !batch_.staged.empty()) return false;
    return !mixed_.turned() || std::all_of(progress_.filled.begin(), progress_.filled.end(),
                                           [](char is) { return is != 0; });
}

Status InlineService::end_at_rest(std::int64_t& records) {
    records = progress_.records;
    if (mixed_.turned()) return {};
    if (Status ready = prepare_fills(); !ready.ok()) return ready;
    Status written = write_fixed(nullptr, true);
    return finish_write(file_, target_, std::move(written), batch_.take_misfits(false),
                        records_as_before, false);
}

void InlineService::add_figures(FileFigures& f) const {
    writer_.add_figures(f);
    if (mixed_.joined()) {
        local_.queue()->add_figures(f);
        f.staging_bytes += staging_.taken() + local_.copied_bytes();
        return;
    }
    f.staging_bytes = staging_.taken() + local_.copied_bytes();
    const WriteCounts& counts = target_.storage->counts();
    f.write = counts.seconds;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
}

}  // namespace thalweg::detail
