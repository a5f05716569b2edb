// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_service.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "exchange/dense.hpp"
#include "exchange/pack.hpp"
#include "exchange/parts.hpp"
#include "service/queue/queue_plan.hpp"

namespace thalweg::detail {

namespace {

/// Largest number of cached lists that were cut to a box.
constexpr std::size_t most_clips = 64;

}  // namespace

QueueService::QueueService(FileContext& file, Batch& batch, Order order,
                           std::unique_ptr<Publisher> publisher, bool holds_step,
                           std::int64_t least)
    : file_(file),
      batch_(batch),
      order_(order),
      publisher_(std::move(publisher)),
      unit_(file, batch, *publisher_),
      together_(!holds_step || publisher_->collective()),
      in_parts_(!holds_step),
      part_bytes_(least / 4) {
    for (const Variable& v : file.definitions.variables) has_records_ |= v.record;
    // Informs the writers that this rank enters a collective call: until all ranks have entered it,
    // this one publishes nothing.
    file.session.meeting().prepare(file.serial, [this] { publisher_->meet(); });
}

QueueService::~QueueService() { file_.session.meeting().forget(file_.serial); }

Status QueueService::agree(Call call, int variable, const Status& mine, Agreed& agreed) {
    (void)poll();
    Status status = agree_on(file_, batch_, call, variable, mine, agreed);
    batch_.boxed |= agreed.boxed;
    return status;
}

Status QueueService::put(const Status& checked, const PartsToPut& put) {
    if (put.by_put) return put_in_step(checked, put.part, put.deferred);
    if (put.alone)
        return failure(TW_EUNSUPPORTED,
                       "{}: only service inline writes for one rank alone (rank {})", file_.path,
                       OfRank{file_.team.rank()});
    return checked.ok() ? put_parts(put) : checked;
}

Status QueueService::put_in_step(const Status& checked, const Part& part, bool deferred) {
    const int variable = part.variable;
    if (in_parts_ && !deferred) {
        // Ranks whose own check failed take part in the agreement.
        Agreed agreed;
        if (Status s = agree(Call::put, variable, checked, agreed); !s.ok()) return s;
    } else if (Status s = poll(); !s.ok()) {
        return s;
    }
    if (!checked.ok()) return checked;
    batch_.misfits[variable] = 0;
    batch_.parts.erase({variable, part.record});
    // Every rank passed the whole variable; the values of rank 0 are written.
    if (goes_as_boxes(file_, variable)) {
        batch_.boxed = true;
        if (Status s = put_part(part); !s.ok()) return s;
    } else if (deferred) {
        WaitingPart waiting;
        static_cast<Part&>(waiting) = part;
        waiting.by_put = waiting.deferred = true;
        waiting.fingerprint = Fingerprint(*part.holding->decomposition, part.holding->order,
                                          part.holding->held, part.array);
        batch_.parts[{variable, part.record}].push_back(std::move(waiting));
    } else if (in_parts_) {
        if (Status s = queue_in_ranges(variable, &part); !s.ok()) return s;
        return batch_.keep_misfits(true);
    } else if (Status s = queue_variable(part); !s.ok()) {
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

/// Fails the file on all ranks, as the queue cannot have room for a variable.
Status QueueService::no_room(const Variable& v) {
    const int rank = file_.team.rank();
    UnitQueue& unit_queue = publisher_->unit_queue();
    Status status =
        unit_queue.no_memory()
            ? failure(TW_ENOMEM, "{}: variable '{}': out of memory for the queue (rank {})",
                      OfFile{file_.path}, OfVariable{v.name}, OfRank{rank})
        : unit_.has_boxes() ? no_room_for_boxes(v)
                            : failure(TW_EINTERNAL,
                                      "{}: variable '{}': the queue is too small; increase the "
                                      "setting 'queue' (rank {})",
                                      file_.path, OfVariable{v.name}, OfRank{rank});
    publisher_->fail(status);
    return file_.keep(std::move(status));
}

/// Returns the error for boxes that do not fit. The file has not failed: queued data are kept, and
/// there will be room after a collective call of all ranks.
Status QueueService::no_room_for_boxes(const Variable& v) const {
    return too_much_put(file_, v, "queue", publisher_->unit_queue().capacity());
}

/// Packs this rank's part of a variable into the open unit.
Status QueueService::queue_variable(const Part& part) {
    const int variable = part.variable;
    const Variable& v = file_.variable(variable);
    batch_.misfits[variable] = 0;
    if (!part.has_any()) return {};
    const std::int64_t bytes = part.holding->elements * v.element();
    UnitQueue& unit_queue = publisher_->unit_queue();
    char* to = unit_.room_for(variable, bytes);
    if (to == nullptr && batch_.boxed && !publisher_->collective() && !unit_queue.stuck()) {
        if (Status s = publish_early(); !s.ok()) return s;
        to = unit_.room_for(variable, bytes);
    }
    if (to == nullptr && unit_queue.stuck()) return mismatch(Call::put, variable);
    if (to == nullptr) return no_room(v);
    Span span("pack");
    span.variable(v.name).bytes(bytes);
    batch_.misfits[variable] = pack(file_.packers, v, order_, part, to);
    return {};
}

/// Queues a variable of a step that exceeds the queue, one range after another in file order; the
/// ranges are the same on every rank.
/// @param part  null on a rank that did not put the variable
Status QueueService::queue_in_ranges(int variable, const Part* part) {
    const Variable& v = file_.variable(variable);
    // A rank may hold all elements of a range.
    const std::int64_t size = std::max<std::int64_t>(1, part_bytes_ / v.element());
    Status first;
    // Publish what is queued, so that its room can be reused for the ranges.
    if (!publisher_->collective()) first = publish_early();
    for (std::int64_t begin = 0; begin < v.elements(); begin += size) {
        const ElementRange range{begin, std::min(v.elements(), begin + size)};
        const char* at = nullptr;
        Status status = queue_range(variable, range, part, at);
        if (first.ok()) first = std::move(status);
        unit_.publish_part(variable, range, at);
    }
    batch_[variable].written = true;
    batch_[variable].put = false;
    return file_.keep(std::move(first));
}

/// Packs this rank's part of a range.
/// @param part  null on a rank that did not put the variable
/// @param at    receives the place in the queue; null if there are no data
Status QueueService::queue_range(int variable, ElementRange range, const Part* part,
                                 const char*& at) {
    const Variable& v = file_.variable(variable);
    const std::int64_t bytes = part != nullptr ? packed_bytes(v, *part->holding, range) : 0;
    // Boxes stay in the queue until the next collective call. The descriptors of the part and of
    // the open unit need room beside them, even if there are no data.
    if (bytes == 0 && !unit_.has_boxes()) return {};
    const std::int64_t after = unit_.has_boxes() ? unit_.descriptor_bytes_with_part() : 0;
    char* to = publisher_->unit_queue().take(bytes, after);
    if (to == nullptr) return no_room(v);
    if (bytes == 0) return {};
    Span span("pack");
    span.variable(v.name).bytes(bytes);
    batch_.misfits[variable] += pack(file_.packers, v, order_, *part, range, to);
    at = to;
    return {};
}

/// Packs the arrays of deferred puts, which the model may change after this call.
/// @param records  false: pack only fixed-size variables
Status QueueService::queue_deferred(bool records, const Agreed& agreed) {
    Status first;
    for (std::size_t i = 0; i < batch_.puts.size(); ++i) {
        const int variable = i;
        if (!records && batch_.is_record(i)) continue;
        const WaitingPart* const deferred = batch_.find_put(variable);
        Status status;
        if (in_parts_) {
            if (!agreed.put[i]) continue;
            status = queue_in_ranges(variable, deferred);
        } else if (deferred != nullptr) {
            status = queue_variable(*deferred);
        }
        // If the ranks are in different calls, the array stays deferred.
        if (status.code == TW_EMISMATCH) return status;
        batch_.parts.erase({variable, batch_.record_of(variable)});
        if (first.ok()) first = std::move(status);
    }
    return first;
}

/// Checks that all boxes fit into the queue, if units are published only in collective calls.
Status QueueService::check_room(const Part& part, std::int64_t records) {
    if (!publisher_->collective()) return {};
    const Variable& v = file_.variable(part.variable);
    const std::int64_t capacity = publisher_->unit_queue().capacity();
    const std::int64_t needed = room_for_boxes(v, part.holding->held, capacity);
    if (needed > 0 && records > INT64_MAX / 2 / needed) return no_room_for_boxes(v);
    const std::int64_t open = unit_.box_bytes() + needed * records;
    const bool fits = open <= file_.options.staging && open <= capacity / 8 * 7;
    return fits ? Status{} : no_room_for_boxes(v);
}

/// Packs parts at once, also deferred arrays.
Status QueueService::put_parts(const PartsToPut& put) {
    if (Status s = poll(); !s.ok() || put.records == 0) return s;
    if (Status s = check_room(put.part, put.records); !s.ok()) return s;
    Status status = batch_.for_parts(put, [&](const Part& part) { return put_part(part); });
    return status.ok() ? batch_.keep_misfits(true) : status;
}

Status QueueService::put_part(const Part& part) {
    for (std::size_t at = 0; at < part.boxes().size(); ++at)
        if (Status s = queue_box(part, at, part.boxes()[at].box); !s.ok()) return s;
    return {};
}

/// Packs into the open unit those elements of a held box that lie in another box.
Status QueueService::queue_box(const Part& part, std::size_t number, const Box& box) {
    const Variable& v = file_.variable(part.variable);
    const HeldBox& held = part.boxes()[number];
    HeldBox packed = held_box(box, v.shape);
    if (held.list) {
        if (!has_any(held, box)) return {};
        if (clips_.size() == most_clips) clips_.clear();
        packed.list = clips_.of(held.list, box);
    }
    const std::int64_t bytes = elements_of(packed) * v.element();
    if (box.volume() > 1 &&
        bytes + description_of(packed) > publisher_->unit_queue().capacity() / 4) {
        Box first = box;
        const Box second = halve(first);
        if (Status s = queue_box(part, number, first); !s.ok()) return s;
        return queue_box(part, number, second);
    }
    // The box's description in the unit needs room, too.
    const std::int64_t described = description_of(packed);
    char* to = nullptr;
    if (Status s = room_for_box(part.variable, bytes, described, to); !s.ok()) return s;
    {
        Span span("pack");
        span.variable(v.name).record(v.record ? part.record : -1).bytes(bytes);
        batch_.misfits[part.variable] += pack(file_.packers, v, order_, part, number, box, to);
    }
    UnitPart::Entry entry;
    entry.variable = part.variable;
    entry.record = part.record;
    entry.held = std::move(packed);
    entry.at = publisher_->unit_queue().position(to);
    unit_.add_box(std::move(entry), UnitQueue::rounded(bytes), described);
    return {};
}

Status QueueService::room_for_box(int variable, std::int64_t bytes, std::int64_t description,
                                  char*& to) {
    const std::int64_t needed = UnitQueue::rounded(bytes) + description;
    const Variable& v = file_.variable(variable);
    UnitQueue& unit_queue = publisher_->unit_queue();
    if (!publisher_->collective() && unit_.box_bytes() + needed > unit_queue.capacity() / 2)
        if (Status s = publish_early(); !s.ok()) return s;
    const std::int64_t open = unit_.box_bytes() + needed;
    if (publisher_->collective() &&
        (open > unit_queue.capacity() / 8 * 7 || open > file_.options.staging))
        return no_room_for_boxes(v);
    const auto take = [&] {
        return unit_queue.take(bytes, unit_.descriptor_bytes() + description);
    };
    to = take();
    if (to == nullptr && !publisher_->collective() && !unit_queue.stuck()) {
        if (Status s = publish_early(); !s.ok()) return s;
        to = take();
    }
    if (to != nullptr) return {};
    if (unit_queue.stuck()) return mismatch(Call::put, variable);
    return unit_queue.no_memory() ? no_room(v) : no_room_for_boxes(v);
}

/// Publishes the queued data in the middle of a step, if publishing is local.
Status QueueService::publish_early() {
    if (Status s = poll(); !s.ok() || unit_.empty()) return s;
    (void)unit_.publish_early(false);  // the caller tests if this rank waits in vain
    return {};
}

Status QueueService::end_step(bool apart) {
    if (apart && !together_) {
        if (Status s = poll(); !s.ok()) return s;
        ++file_.figures.steps;
        return unit_.publish_early(true) ? Status{} : mismatch(Call::end_step, -1);
    }
    Agreed agreed;
    const Status lost = batch_.check_deferred(true);
    Status mine = together_ ? agree(Call::end_step, -1, lost, agreed) : poll();
    if (!mine.ok()) return mine;
    if (!lost.ok()) {  // the other ranks consider the step ended
        publisher_->fail(lost);
        return file_.keep(lost);
    }
    if (!batch_.boxed)
        if (Status s = file_.check_next_record(batch_.record); !s.ok()) return file_.keep(s);
    mine = queue_deferred(true, agreed);
    if (mine.code == TW_EMISMATCH) return mine;
    if (!unit_.publish(UnitKind::step)) return mismatch(Call::end_step, -1);
    if (has_records_) ++batch_.record;
    ++file_.figures.steps;
    Status misfit = batch_.keep_misfits(true);
    return mine.ok() ? misfit : mine;
}

/// Publishes the unit that tw_sync or tw_close ends.
Status QueueService::queue_rest(UnitKind kind, const Agreed& agreed) {
    Status mine = queue_deferred(false, agreed);
    (void)unit_.publish(kind);  // all ranks are in this call, so no rank waits for ever
    return mine;
}

Status QueueService::hand_over(Agreed& agreed) {
    Status misfit;
    Status status = agree(Call::close, -1, batch_.check_deferred(false), agreed);
    if (status.ok()) status = end_open_step(*this, file_, batch_, agreed, misfit);
    if (!status.ok()) return status;
    status = agree_on_misfits(queue_rest(UnitKind::last, agreed));
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
    Status mine = queue_rest(UnitKind::fixed, agreed);
    Status status = drain(durable);
    if (!status.ok()) return file_.keep(std::move(status));
    if (batch_.boxed) batch_.note_records(publisher_->records());
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
    return publisher_->finish(durable);
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
    f.write = counts.seconds;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
    f.busy = counts.busy;
    f.drain = drain_;
    const UnitQueue& unit_queue = publisher_->unit_queue();
    f.queue_room = unit_queue.room();
    f.queue_units = unit_queue.published();
    f.queue_unit_bytes = unit_queue.unit_bytes;
    f.queue_waits = unit_queue.waits;
    f.queue_wait = unit_queue.wait_seconds;
    f.queue_bytes = unit_queue.most_bytes;
    f.staging_bytes = unit_queue.touched();
}

ServicePlan service_plan(const FileContext& file, const Target& target, const Existing& existing) {
    ServicePlan plan;
    plan.path = file.path;
    plan.data_path = file.data_path;
    plan.serial = file.serial;
    plan.definitions = &file.definitions;
    plan.whole = are_whole(file.holdings);
    plan.boxes = std::make_shared<PackedBoxes>(file.holdings);
    plan.layout = target.layout;
    plan.storage = file.options.storage;
    if (file.options.piece > 0) plan.piece = file.options.piece;
    plan.durable = file.options.durable;
    plan.options = file.storage_options();
    plan.options.existing = existing;
    if (file.existing.is) plan.map = target.map;
    return plan;
}

}  // namespace thalweg::detail
