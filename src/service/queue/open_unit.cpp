// SPDX-License-Identifier: Apache-2.0
#include "service/queue/open_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/reserve.hpp"
#include "service/bits.hpp"

namespace thalweg::detail {

OpenUnit::OpenUnit(const FileContext& file, Batch& batch, Publisher& publisher)
    : file_(file), batch_(batch), publisher_(publisher), queued_(batch.puts.size()) {}

char* OpenUnit::room_for(int variable, std::int64_t bytes) {
    Queued& queued = queued_[variable];
    if (queued.at != nullptr) return queued.at;
    UnitQueue& unit_queue = publisher_.unit_queue();
    // If the unit has boxes, leave space in the queue for its descriptor. If it has none, the queue
    // has been made large enough for that.
    queued = {unit_queue.take(bytes, boxes_.empty() ? 0 : descriptor_bytes()), bytes,
              unit_queue.memory().mark()};
    return queued.at;
}

std::int64_t OpenUnit::plain_descriptor_bytes() const {
    const std::int64_t n = queued_.size();
    return QueueMemory::rounded(8 * (17 + n / 16 + 4 + 2 * n));
}

std::int64_t OpenUnit::descriptor_bytes() const { return plain_descriptor_bytes() + description_; }

std::int64_t OpenUnit::descriptor_bytes_with_part() const {
    return plain_descriptor_bytes() + descriptor_bytes();
}

bool OpenUnit::empty() const {
    return boxes_.empty() && std::none_of(queued_.begin(), queued_.end(),
                                          [](const Queued& q) { return q.at != nullptr; });
}

void OpenUnit::add_box(UnitPart::Entry entry, std::int64_t bytes, std::int64_t description) {
    if (boxes_.empty()) boxes_mark_ = publisher_.unit_queue().memory().mark();
    box_bytes_ += bytes + description;
    description_ += description;
    boxes_.push_back(std::move(entry));
}

UnitPart OpenUnit::unit_part(UnitKind kind) const {
    return with_reserve([&] { return make_unit_part(kind); });
}

UnitPart OpenUnit::make_unit_part(UnitKind kind) const {
    const std::size_t words = (queued_.size() + 63) / 64;
    UnitPart unit_part;
    unit_part.whole.reserve(queued_.size());
    unit_part.head.kind = kind;
    unit_part.head.rank = file_.team.rank();
    unit_part.head.record = batch_.record;
    unit_part.head.boxed = batch_.boxed;
    unit_part.head.given = batch_.given;
    unit_part.head.records = batch_.file_records;
    for (auto* mask : {&unit_part.put, &unit_part.lacking, &unit_part.bare, &unit_part.with_halo})
        mask->assign(words, 0);
    return unit_part;
}

/// Describes which variables were put, in which form, and where their data are queued.
void OpenUnit::describe(UnitPart& unit_part, UnitKind kind) const {
    for (std::size_t i = 0; i < queued_.size(); ++i) {
        const Batch::Put& part = batch_.puts[i];
        const Variable& v = file_.definitions.variables[i];
        if (v.record && kind != UnitKind::step) continue;
        if (part.put)
            set_bit(unit_part.put, i);
        else if (!part.written && file_.holdings[i]->decomposition->has_part())
            set_bit(unit_part.lacking, i);
        if (part.put && part.form == Form::without_halo) set_bit(unit_part.bare, i);
        if (part.put && part.form == Form::with_halo) set_bit(unit_part.with_halo, i);
        if (part.put && queued_[i].at != nullptr)
            unit_part.whole.push_back(
                {static_cast<int>(i), publisher_.unit_queue().memory().position(queued_[i].at)});
    }
}

/// Returns the mark of the first queued record variable that stays until the step ends; -1: there
/// is none.
std::int64_t OpenUnit::first_that_stays() const {
    std::int64_t first = -1;
    for (std::size_t i = 0; i < queued_.size(); ++i)
        if (batch_.is_record(i) && queued_[i].at != nullptr &&
            (first < 0 || queued_[i].mark < first))
            first = queued_[i].mark;
    return first;
}

bool OpenUnit::publish(UnitKind kind) {
    const bool step = kind == UnitKind::step;
    if (step)
        for (std::size_t i = 0; i < queued_.size(); ++i)
            if (batch_.is_record(i) && (batch_.puts[i].put || batch_.puts[i].written))
                batch_.note_records(batch_.record + 1);
    UnitPart unit = unit_part(kind);
    unit.entries = std::exchange(boxes_, {});
    describe(unit, kind);
    if (!publisher_.publish(unit, step ? -1 : first_that_stays())) {
        boxes_ = std::move(unit.entries);
        return false;
    }
    box_bytes_ = description_ = 0;
    for (std::size_t i = 0; i < queued_.size(); ++i)
        if (step || !batch_.is_record(i)) queued_[i] = {};
    batch_.forget_puts(step);
    for (Batch::Put& p : batch_.puts) p.boxed = false;
    return true;
}

bool OpenUnit::publish_early(bool ends) {
    UnitPart unit = unit_part(UnitKind::boxes);
    unit.head.ends = ends;
    // Data queued by tw_put are published with the boxes, as they would otherwise occupy room that
    // later boxes need.
    for (std::size_t i = 0; i < queued_.size(); ++i) {
        if (queued_[i].at == nullptr) continue;
        unit.whole.push_back(
            {static_cast<int>(i), publisher_.unit_queue().memory().position(queued_[i].at)});
    }
    unit.entries = std::exchange(boxes_, {});
    if (!publisher_.publish(unit)) {
        boxes_ = std::move(unit.entries);
        return false;
    }
    box_bytes_ = description_ = 0;
    std::fill(queued_.begin(), queued_.end(), Queued{});
    return true;
}

void OpenUnit::publish_part(int variable, ElementRange range, const char* at) {
    UnitPart unit = unit_part(UnitKind::part);
    unit.head.variable = variable;
    unit.head.begin = range.begin;
    unit.head.end = range.end;
    if (at != nullptr)
        unit.whole.push_back({variable, publisher_.unit_queue().memory().position(at)});
    publisher_.publish(unit, boxes_.empty() ? -1 : boxes_mark_);
}

void OpenUnit::publish_fill(std::span<const int> variables) {
    UnitPart unit = unit_part(UnitKind::fill);
    unit.head.records = 0;  // this unit ends no record
    for (const int v : variables) set_bit(unit.put, v);
    std::int64_t first = boxes_.empty() ? -1 : boxes_mark_;
    for (const Queued& q : queued_)
        if (q.at != nullptr && (first < 0 || q.mark < first)) first = q.mark;
    publisher_.publish(unit, first);
}

void OpenUnit::gather() {
    UnitQueue& unit_queue = publisher_.unit_queue();
    std::vector<Queued*> open;
    with_reserve([&] { open.reserve(queued_.size()); });
    for (Queued& q : queued_)
        if (q.at != nullptr) open.push_back(&q);
    // Moves from low addresses to high ones, so that nothing is overwritten before it has moved.
    std::sort(open.begin(), open.end(), [](auto* a, auto* b) { return a->at < b->at; });
    unit_queue.memory().restart();
    for (Queued* q : open) {
        char* to = unit_queue.take(q->bytes);
        std::memmove(to, q->at, q->bytes);
        q->at = to;
        q->mark = unit_queue.memory().mark();
    }
}

}  // namespace thalweg::detail
