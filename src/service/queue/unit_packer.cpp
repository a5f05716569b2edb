// SPDX-License-Identifier: Apache-2.0
#include "service/queue/unit_packer.hpp"

#include <utility>

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

/// Fails the file on all ranks, as the queue cannot have room for a variable.
Status UnitPacker::no_room(const Variable& v) {
    const int rank = file_.team.rank();
    UnitQueue& unit_queue = publisher_.unit_queue();
    Status status =
        unit_queue.memory().out_of_memory()
            ? failure(TW_ENOMEM, "{}: variable '{}': out of memory for the queue (rank {})",
                      OfFile{file_.path}, OfVariable{v.name}, OfRank{rank})
        : unit_.has_boxes() ? no_room_for_boxes(v)
                            : failure(TW_EINTERNAL,
                                      "{}: variable '{}': the queue is too small; increase the "
                                      "setting 'queue' (rank {})",
                                      file_.path, OfVariable{v.name}, OfRank{rank});
    publisher_.fail(status);
    return file_.keep(std::move(status));
}

/// Returns the error for boxes that do not fit. The file has not failed: queued data are kept, and
/// there will be room after a collective call of all ranks.
Status UnitPacker::no_room_for_boxes(const Variable& v) const {
    return too_much_put(file_, v, "queue", publisher_.unit_queue().memory().capacity());
}

Status UnitPacker::put_whole(const Part& part) {
    const int variable = part.variable;
    const Variable& v = file_.variable(variable);
    batch_.misfits[variable] = 0;
    if (!part.has_any()) return {};
    const std::int64_t bytes = part.holding->elements * v.element();
    UnitQueue& unit_queue = publisher_.unit_queue();
    char* to = unit_.room_for(variable, bytes);
    if (to == nullptr && batch_.boxed && !publisher_.collective() && !unit_queue.stuck()) {
        if (Status s = publish_early(); !s.ok()) return s;
        to = unit_.room_for(variable, bytes);
    }
    if (to == nullptr && unit_queue.stuck()) return mismatch_(variable);
    if (to == nullptr) return no_room(v);
    Span span("pack");
    span.variable(v.name).bytes(bytes);
    batch_.misfits[variable] = pack(file_.packers, v, order_, part, to);
    return {};
}

Status UnitPacker::put_range(int variable, ElementRange range, const Part* part, const char*& at) {
    const Variable& v = file_.variable(variable);
    const std::int64_t bytes = part != nullptr ? packed_bytes(v, *part->holding, range) : 0;
    // Boxes stay in the queue until the next collective call. The descriptors of the part and of
    // the open unit need room beside them, even if there are no data.
    if (bytes == 0 && !unit_.has_boxes()) return {};
    const std::int64_t after = unit_.has_boxes() ? unit_.descriptor_bytes_with_part() : 0;
    char* to = publisher_.unit_queue().take(bytes, after);
    if (to == nullptr) return no_room(v);
    if (bytes == 0) return {};
    Span span("pack");
    span.variable(v.name).bytes(bytes);
    batch_.misfits[variable] += pack(file_.packers, v, order_, *part, range, to);
    at = to;
    return {};
}

Status UnitPacker::check_room(const Part& part, std::int64_t records) {
    if (!publisher_.collective()) return {};
    const Variable& v = file_.variable(part.variable);
    const std::int64_t capacity = publisher_.unit_queue().memory().capacity();
    const std::int64_t needed = room_for_boxes(v, part.holding->held, capacity);
    if (needed > 0 && records > INT64_MAX / 2 / needed) return no_room_for_boxes(v);
    const std::int64_t open = unit_.box_bytes() + needed * records;
    const bool fits = open <= file_.options.staging && open <= capacity / 8 * 7;
    return fits ? Status{} : no_room_for_boxes(v);
}

Status UnitPacker::put_boxes(const Part& part) {
    for (std::size_t at = 0; at < part.boxes().size(); ++at)
        if (Status s = put_box(part, at, part.boxes()[at].box); !s.ok()) return s;
    return {};
}

/// Packs into the open unit those elements of a held box that lie in another box.
Status UnitPacker::put_box(const Part& part, std::size_t number, const Box& box) {
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
        bytes + description_of(packed) > publisher_.unit_queue().memory().capacity() / 4) {
        Box first = box;
        const Box second = halve(first);
        if (Status s = put_box(part, number, first); !s.ok()) return s;
        return put_box(part, number, second);
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
    entry.at = publisher_.unit_queue().memory().position(to);
    unit_.add_box(std::move(entry), QueueMemory::rounded(bytes), described);
    return {};
}

Status UnitPacker::room_for_box(int variable, std::int64_t bytes, std::int64_t description,
                                char*& to) {
    const std::int64_t needed = QueueMemory::rounded(bytes) + description;
    const Variable& v = file_.variable(variable);
    UnitQueue& unit_queue = publisher_.unit_queue();
    if (!publisher_.collective() && unit_.box_bytes() + needed > unit_queue.memory().capacity() / 2)
        if (Status s = publish_early(); !s.ok()) return s;
    const std::int64_t open = unit_.box_bytes() + needed;
    if (publisher_.collective() &&
        (open > unit_queue.memory().capacity() / 8 * 7 || open > file_.options.staging))
        return no_room_for_boxes(v);
    const auto take = [&] {
        return unit_queue.take(bytes, unit_.descriptor_bytes() + description);
    };
    to = take();
    if (to == nullptr && !publisher_.collective() && !unit_queue.stuck()) {
        if (Status s = publish_early(); !s.ok()) return s;
        to = take();
    }
    if (to != nullptr) return {};
    if (unit_queue.stuck()) return mismatch_(variable);
    return unit_queue.memory().out_of_memory() ? no_room(v) : no_room_for_boxes(v);
}

Status UnitPacker::publish_early() {
    if (Status s = poll(); !s.ok() || unit_.empty()) return s;
    (void)unit_.publish_early(false);  // the caller tests if this rank waits in vain
    return {};
}

}  // namespace thalweg::detail
