// SPDX-License-Identifier: Apache-2.0
#include "service/inline_service.hpp"

#include <algorithm>
#include <utility>

#include "comm/clock.hpp"
#include "comm/log.hpp"
#include "comm/reserve.hpp"

namespace thalweg::detail {

InlineService::InlineService(FileContext& file, Target& target, Batch& batch)
    : file_(file),
      target_(target),
      batch_(batch),
      staging_(file),
      writer_(file, target),
      filled_(file.definitions.variables.size(), file.existing.is),
      queue_bytes_(plan_inline_queue(file).bytes) {}

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
    if (agreed.boxed && !turned_)
        if (Status turned = turn_to_boxes(); !turned.ok()) return turned;
    return status;
}

Status InlineService::put(Status checked, int variable, ArrayView view, bool deferred) {
    if (turned_ && immediate_) {
        if (checked.ok()) checked = alone([&] { return make_boxes(); });
        return boxes_ ? boxes_->put(std::move(checked), variable, view, deferred) : checked;
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
    if (turned_) return put({}, variable, view, false);
    Batch::Part& part = batch_[variable];
    const Variable& v = file_.variable(variable);
    part.view = view;
    part.put = true;
    const Space& space = writer_.spaces().of(v.record);
    skip_all(space);
    for (std::size_t i = 0; i < actions_.size(); ++i)
        if (space.places[i].variable == variable) actions_[i] = Action::data;
    Status written = write_space(v.record);
    Status status = finish_write(std::move(written), batch_.take_misfits(true), none, false);
    part.put = false;
    part.written = true;
    if (!v.record) filled_[variable] = 1;
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

/// Nothing is to be done with the places of a space, until the caller says otherwise.
void InlineService::skip_all(const Space& space) {
    with_reserve([&] {
        actions_.assign(space.places.size(), Action::skip);
        arrays_.assign(space.places.size(), nullptr);
    });
}

/// Moves one space of the file, as actions_ tells: the record at hand, or the fixed-size variables.
Status InlineService::write_space(bool records) {
    if (std::all_of(actions_.begin(), actions_.end(), [](Action a) { return a == Action::skip; }))
        return {};
    const Space& space = writer_.spaces().of(records);
    const std::int64_t record = records ? batch_.record : 0;
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        const int v = space.places[i].variable;
        if (batch_[v].put && file_.variable(v).decomposition->held > 0)
            arrays_[i] = &batch_[v].view;
    }
    return writer_.write(records, record, actions_, arrays_, batch_.misfits);
}

Status InlineService::publish_records(std::int64_t records, bool durable) {
    Status status = alone([&] { return target_.storage->set_records(records, durable); });
    return status.ok() ? alone([&] { return target_.storage->catch_up(); }) : status;
}

/**
 * All ranks learn what became of a write. Where all of it is good, the records are counted before
 * they do, so that they learn of that, too.
 * @param mine     this rank's own failure
 * @param misfit   values of this rank that did not fit
 * @param records  of the file; none: they are not counted anew
 * @return the same on every rank: a failure, which is kept, or that values did not fit
 * @note Collective
 */
Status InlineService::finish_write(Status mine, const Status& misfit, std::int64_t records,
                                   bool durable) {
    Storage& storage = *target_.storage;
    if (mine.ok() || storage.collective()) {
        Status complete = alone([&] { return storage.complete(); });
        if (mine.ok()) mine = std::move(complete);
    }
    if (durable) {  // a collective matter for some drivers, so whatever this rank's own luck
        Status synced = storage.sync();
        if (mine.ok()) mine = std::move(synced);
    }
    std::int64_t words[2] = {mine.ok() ? 0 : 1, misfit.ok() ? 0 : 1};
    const auto count = [&](std::span<std::int64_t> all) {
        if (all[0] != 0) return;
        mine = publish_records(records, durable);
        all[0] = mine.ok() ? 0 : 1;
    };
    const bool by_keeper = records != none && storage.keeper_counts();
    {
        Stopwatch watch(file_.figures.wait);
        if (by_keeper)
            file_.team.all_reduce(words, Reduce::max, target_.writers.front(), std::ref(count));
        else
            file_.team.all_reduce(words, Reduce::max);
    }
    if (words[0] != 0) return file_.keep(detail::agree(file_.team.world(), mine));
    if (records != none && !by_keeper)
        if (Status s = file_.team.agree(publish_records(records, durable)); !s.ok())
            return file_.keep(std::move(s));
    return words[1] != 0 ? detail::agree(file_.team.world(), misfit) : Status{};
}

/// Writes the fixed-size variables that were put; with `last`, fills those that never were.
Status InlineService::write_fixed(const Agreed& agreed, bool last) {
    const auto& places = writer_.spaces().fixed.places;
    skip_all(writer_.spaces().fixed);
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        const std::size_t v = places[i].variable;
        if (agreed.put[v])
            actions_[i] = Action::data;
        else if (last && !filled_[v])
            actions_[i] = Action::fill;
        if (actions_[i] != Action::skip) filled_[v] = 1;
    }
    return write_space(false);
}

Status InlineService::end_step() {
    Agreed agreed;
    if (Status s = agree(Call::end_step, -1, batch_.check_deferred(true), agreed); !s.ok())
        return s;
    if (turned_) return write_batch(agreed, Ends::step, file_.options.durable);
    if (Status s = file_.check_next_record(batch_.record); !s.ok()) return file_.keep(s);
    Status status = write_fixed(agreed, false);
    const auto& places = writer_.spaces().record.places;
    skip_all(writer_.spaces().record);
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        const std::size_t v = places[i].variable;
        if (agreed.put[v])
            actions_[i] = Action::data;
        else if (!batch_.parts[v].written)
            actions_[i] = Action::fill;
    }
    Status records = write_space(true);
    if (status.ok()) status = std::move(records);
    const Status misfit = batch_.take_misfits(!places.empty());
    status = finish_write(std::move(status), misfit, places.empty() ? none : batch_.record + 1,
                          file_.options.durable);
    if (file_.failed.ok() && !places.empty()) ++batch_.record;
    batch_.forget(true);
    ++file_.figures.steps;
    return status;
}

Status InlineService::sync(bool durable) {
    Agreed agreed;
    if (Status s = agree(Call::sync, -1, batch_.check_deferred(false), agreed); !s.ok()) return s;
    if (turned_) return write_batch(agreed, Ends::sync, durable);
    Status written = write_fixed(agreed, false);
    Status status =
        finish_write(std::move(written), batch_.take_misfits(false), batch_.record, durable);
    for (std::size_t i = 0; i < batch_.parts.size(); ++i)
        if (!batch_.is_record(i)) batch_.parts[i].put = false;
    return status;
}

Status InlineService::agree_to_close(Agreed& agreed) {
    return agree(Call::close, -1, batch_.check_deferred(false), agreed);
}

Status InlineService::write_rest(const Agreed& agreed) {
    if (turned_) return write_batch(agreed, Ends::file, file_.options.durable);
    Status written = write_fixed(agreed, true);
    return finish_write(std::move(written), batch_.take_misfits(false), none,
                        file_.options.durable);
}

Status InlineService::close(bool good) {
    if (joined_) return boxes_->close(good);
    return target_.storage->close(turned_ ? records_ : batch_.record,
                                  good ? file_.late : LateAttributes{});
}

/// Not where tw_put is collective, as it is local with other services; nor where boxes may be parts
/// of records to come.
bool InlineService::is_at_rest() const {
    if (immediate_ || boxes_ || !batch_.staged.empty()) return false;
    return !turned_ || std::all_of(filled_.begin(), filled_.end(), [](char is) { return is != 0; });
}

Status InlineService::end_at_rest(std::int64_t& records) {
    records = turned_ ? records_ : batch_.record;
    if (turned_) return {};
    writer_.prepare();
    const Status ready = file_.team.agree(alone([&]() -> Status {
        skip_all(writer_.spaces().fixed);
        return {};
    }));
    if (!ready.ok()) return file_.keep(ready);
    Agreed nothing;
    nothing.put.assign(batch_.parts.size(), 0);
    Status written = write_fixed(nothing, true);
    return finish_write(std::move(written), batch_.take_misfits(false), none, false);
}

void InlineService::add_figures(FileFigures& f) const {
    writer_.add_figures(f);
    if (joined_) {
        boxes_->add_figures(f);
        f.staging_bytes += staging_.taken() + copies_.bytes();
        return;
    }
    f.staging_bytes = staging_.taken() + copies_.bytes();
    const WriteCounts& counts = target_.storage->counts();
    f.write = counts.seconds;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
}

std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status) {
    Stopwatch watch(file.figures.plan);
    if (file.options.service != "inline") {
        auto service = make_queue_service(file, target, batch, file.existing, status);
        if (file.options.service != "inline") return service;
    }
    std::unique_ptr<InlineService> service;
    status = file.team.agree(alone([&]() -> Status {
        service = std::make_unique<InlineService>(file, target, batch);
        return {};
    }));
    if (status.ok()) status = service->begin();
    return status.ok() ? std::move(service) : nullptr;
}

}  // namespace thalweg::detail
