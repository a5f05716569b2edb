// SPDX-License-Identifier: Apache-2.0
#include "service/inline/record_puts.hpp"

#include "base/trace.hpp"

namespace thalweg::detail {

RecordPuts::RecordPuts(FileContext& file, Target& target, Batch& batch, const Progress& progress)
    : file_(file),
      target_(target),
      batch_(batch),
      progress_(progress),
      queue_bytes_(plan_inline_queue(file).bytes) {}

/// This rank's part of a record; null if there is none.
RecordPart* RecordPuts::waiting(int variable, std::int64_t record) {
    for (RecordPart& p : batch_.staged)
        if (p.placed->variable == variable && p.record == record) return &p;
    return nullptr;
}

/// A later put of a rank stands, so that it has to follow the boxes that are in the queue.
bool RecordPuts::goes_by_queue(const RecordPut& put) const {
    return put.placed->key == 0 || boxed_.count({put.placed->variable, put.record}) > 0;
}

Status RecordPuts::make_queue() {
    if (queue_) return {};
    std::vector<char> written;
    for (const Batch::Part& p : batch_.parts) written.push_back(p.written);
    Status status;
    queue_ = make_inline_queue(file_, target_, batch_, progress_.records, progress_.filled,
                               std::move(written), status);
    return status;
}

Status RecordPuts::check_room(int variable, std::span<const HeldBox> held, std::int64_t records) {
    if (Status s = alone([&] { return make_queue(); }); !s.ok())
        return file_.in_variable(std::move(s), variable);
    return queue_->check_room(variable, held, records);
}

/// What waits has to fit into the queue, in case that it must go there.
Status RecordPuts::check_record_room(const RecordPut& put) {
    const int at = put.placed->variable;
    if (queue_ || goes_by_queue(put)) return check_room(at, put.placed->held, 1);
    const Variable& v = file_.variable(at);
    const std::int64_t room = room_for_boxes(v, put.placed->held, queue_bytes_ / 2);
    if (batch_.waiting + room <= file_.options.staging) return {};
    return too_much_put(file_, v, "staging", file_.options.staging);
}

Status RecordPuts::put_record(const RecordPut& put) {
    const int at = put.placed->variable;
    RecordPart* part = waiting(at, put.record);
    if (goes_by_queue(put) || (part != nullptr && part->placed->key != put.placed->key)) {
        if (Status s = settle(at, put.record); !s.ok()) return s;
        return queue_record(put);
    }
    if (part != nullptr) return stage(put, *part);
    RecordPart made;
    if (Status s = stage(put, made); !s.ok()) return s;
    batch_.staged.push_back(std::move(made));
    batch_.waiting += batch_.staged.back().room;
    return {};
}

/// Keeps the array's address, or a copy.
/// @param part  of the same record, put before, or none
Status RecordPuts::stage(const RecordPut& put, RecordPart& part) {
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

Status RecordPuts::queue_record(const RecordPut& put) {
    boxed_.emplace(put.placed->variable, put.record);
    batch_.queued = true;
    if (Status s = make_queue(); !s.ok()) return s;
    return queue_->put_record(put);
}

Status RecordPuts::queue_part(RecordPart& part) {
    if (Status s = make_queue(); !s.ok()) return s;
    batch_.waiting -= std::exchange(part.room, 0);
    return queue_record(part);
}

/// What this rank has put of a record moves to the queue: something follows it there.
Status RecordPuts::settle(int variable, std::int64_t record) {
    RecordPart* const part = waiting(variable, record);
    if (part == nullptr) return {};
    if (Status s = queue_part(*part); !s.ok()) return s;
    batch_.staged.erase(batch_.staged.begin() + (part - batch_.staged.data()));
    return {};
}

Status RecordPuts::put_box(const BoxPart& part) {
    if (boxed_.emplace(part.variable, part.record).second)
        if (Status s = settle(part.variable, part.record); !s.ok()) return s;
    batch_.queued = true;
    return queue_->put_box(part);
}

/// Values that did not fit: told by the call that found them, and again to all ranks when they
/// meet.
Status RecordPuts::take_misfits() {
    Status status = batch_.take_misfits(true);
    if (misfit_.ok()) misfit_ = status;
    return status;
}

void RecordPuts::forget() {
    batch_.staged.clear();
    batch_.waiting = 0;
    batch_.queued = false;
    boxed_.clear();
    copies_.give_back();
}

}  // namespace thalweg::detail
