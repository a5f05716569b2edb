// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/queue_service.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "service/queue/rank/open_unit.hpp"

namespace thalweg::detail {

QueueService::QueueService(FileContext& file, Batch& batch, Order order,
                           std::unique_ptr<Publisher> publisher, bool holds_step)
    : file_(file),
      batch_(batch),
      publisher_(std::move(publisher)),
      unit_(file, batch, order, *publisher_,
            [this](int variable) { return mismatch(Call::put, variable); }),
      holds_step_(holds_step) {
    for (const Variable& v : file.definitions.variables) has_records_ |= v.record;
    // Informs the writers that this rank enters a collective call: until all ranks have entered it,
    // this one publishes nothing.
    file.session.call_agreement().prepare(file.serial, [this] { publisher_->note_call(); });
}

QueueService::~QueueService() { file_.session.call_agreement().forget(file_.serial); }

Status QueueService::agree(Call call, int variable, const Status& mine, Agreed& agreed) {
    (void)unit_.poll();
    Status status = agree_on(file_, batch_, call, variable, mine, agreed);
    batch_.boxed |= agreed.boxed;
    return status;
}

Status QueueService::put(const Status& checked, const PartsToPut& put) {
    if (put.alone)
        return failure(TW_EUNSUPPORTED,
                       "{}: only service inline writes for one rank alone (rank {})", file_.path,
                       OfRank{file_.team.rank()});
    if (Status s = unit_.poll(); !s.ok()) return s;
    if (!checked.ok()) return checked;
    return put.by_put ? put_in_step(put.part, put.deferred) : put_parts(put);
}

Status QueueService::put_in_step(const Part& part, bool deferred) {
    const int variable = part.variable;
    batch_.misfits[variable] = 0;
    batch_.parts.erase({variable, part.record});
    if (!holds_step_ || goes_as_boxes(file_, variable)) {
        batch_.boxed = true;
        if (Status s = unit_.put_boxes(part); !s.ok()) return s;
    } else if (deferred) {
        WaitingPart waiting;
        static_cast<Part&>(waiting) = part;
        waiting.by_put = waiting.deferred = true;
        waiting.fingerprint = Fingerprint(*part.holding->decomposition, part.holding->order,
                                          part.holding->held, part.array);
        batch_.parts.try_emplace({variable, part.record}, 1).first->second.front() =
            std::move(waiting);
    } else if (Status s = unit_.put_whole(part); !s.ok()) {
        return s;
    }
    batch_[variable].put = true;
    return {};
}

/// Handles a wait for room that would never end, as other ranks are in a collective call: joins
/// that call, so that all ranks get the error.
Status QueueService::mismatch(Call call, int variable) {
    Agreed agreed;
    Status status = agree(call, variable, {}, agreed);
    if (status.ok())
        status =
            failure(TW_EINTERNAL, "{}: a wait for room in the queue ended without room (rank {})",
                    file_.path, OfRank{file_.team.rank()});
    return status;
}

/// Packs the arrays of deferred puts, which the model may change after this call.
/// @param records  false: pack only fixed-size variables
Status QueueService::queue_deferred(bool records) {
    Status first;
    for (std::size_t i = 0; i < batch_.puts.size(); ++i) {
        const int variable = i;
        const WaitingPart* const deferred = batch_.find_put(variable);
        if (deferred == nullptr || (!records && batch_.is_record(i))) continue;
        Status status = unit_.put_whole(*deferred);
        // If the ranks are in different calls, the array stays deferred.
        if (status.code == TW_EMISMATCH) return status;
        batch_.parts.erase({variable, batch_.record_of(variable)});
        if (first.ok()) first = std::move(status);
    }
    return first;
}

/// Packs parts at once, also deferred arrays.
Status QueueService::put_parts(const PartsToPut& put) {
    if (put.records == 0) return {};
    if (Status s = unit_.check_room(put.part, put.records); !s.ok()) return s;
    Status status = batch_.for_parts(put, [&](const Part& part) { return unit_.put_boxes(part); });
    return status.ok() ? batch_.keep_misfits(true) : status;
}

Status QueueService::end_step() {
    Agreed agreed;
    const Status lost = batch_.check_deferred(true);
    Status mine = publisher_->collective() ? agree(Call::end_step, -1, lost, agreed) : unit_.poll();
    if (!mine.ok()) return mine;
    if (!lost.ok()) {  // the other ranks consider the step ended
        publisher_->fail(lost);
        return file_.keep(lost);
    }
    if (!batch_.given)
        if (Status s = file_.check_record(-1, batch_.record); !s.ok()) return file_.keep(s);
    mine = queue_deferred(true);
    if (mine.code == TW_EMISMATCH) return mine;
    if (!unit_.publish(UnitKind::step)) return mismatch(Call::end_step, -1);
    if (has_records_) ++batch_.record;
    ++file_.figures.steps;
    Status misfit = batch_.keep_misfits(true);
    return mine.ok() ? misfit : mine;
}

/// Publishes the unit that tw_sync or tw_close ends.
Status QueueService::queue_rest(UnitKind kind) {
    Status mine = queue_deferred(false);
    (void)unit_.publish(kind);  // all ranks are in this call, so no rank waits for ever
    return mine;
}

Status QueueService::hand_over(Agreed& agreed) {
    Status misfit;
    Status status = agree(Call::close, -1, batch_.check_deferred(false), agreed);
    if (status.ok()) status = end_open_step(*this, file_, batch_, agreed, misfit);
    if (!status.ok()) return status;
    status = agree_on_misfits(queue_rest(UnitKind::last));
    return status.ok() ? misfit : status;
}

/// Returns on all ranks the error for values that did not fit on some rank.
Status QueueService::agree_on_misfits(Status mine) {
    const Status misfit = batch_.first_misfit(false);
    if (mine.ok()) mine = misfit;
    return detail::agree(file_.team.world(), mine);
}

Status QueueService::sync(bool durable) {
    Agreed agreed;
    if (Status s = agree(Call::sync, -1, batch_.check_deferred(false), agreed); !s.ok()) return s;
    Status mine = queue_rest(UnitKind::fixed);
    Status status = drain(durable);
    if (!status.ok()) return file_.keep(std::move(status));
    unit_.gather();
    return agree_on_misfits(std::move(mine));
}

Status QueueService::fill(std::span<const int> variables) {
    unit_.publish_fill(variables);
    return file_.keep(drain(false));
}

/// Waits until everything is written.
Status QueueService::drain(bool durable) {
    Stopwatch watch(drain_);
    std::int64_t records = 0;
    Status status = publisher_->finish(durable, records);
    if (status.ok() && batch_.boxed) batch_.note_records(records);
    return status;
}

/// Publishes a mark, after which writers need no other unit. If ranks have ended different numbers
/// of steps, a writer finds a mark beside a step, and stops with an error.
void QueueService::finish_steps() {
    // Discard the waiting parts, because the model may already have freed deferred arrays.
    for (const auto& [key, parts] : std::exchange(batch_.parts, {})) batch_[key.first].put = false;
    (void)unit_.publish(UnitKind::fixed);
    (void)drain(false);
}

Status QueueService::close(bool all, bool good) {
    if (!all) finish_steps();
    const Status written = all ? file_.keep(drain(file_.options.durable)) : Status{};
    good = good && written.ok();
    const Status closed = publisher_->close(good, good ? file_.late : LateAttributes{});
    return written.ok() ? closed : written;
}

void QueueService::add_figures(FileFigures& f) const {
    const WriteCounts counts = publisher_->counts();
    f.times[FileTimes::write] = counts.seconds;
    f.times[FileTimes::busy] = counts.busy;
    f.times[FileTimes::drain] = drain_;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
    const UnitQueue& unit_queue = publisher_->unit_queue();
    f.queue = unit_queue.figures();
    f.staging_bytes = unit_queue.memory().allocated();
    if (publisher_->copies() != nullptr) f.staging_bytes += file_.copies->step.bytes();
}

}  // namespace thalweg::detail
