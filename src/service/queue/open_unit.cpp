// SPDX-License-Identifier: Apache-2.0
#include "service/queue/open_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/reserve.hpp"

namespace thalweg::detail {

namespace {

void set_bit(std::vector<std::int64_t>& words, std::size_t i) {
    words[i / 64] |= std::uint64_t(1) << (i % 64);
}

}  // namespace

OpenUnit::OpenUnit(const FileContext& file, Batch& batch, Publisher& publisher)
    : file_(file), batch_(batch), publisher_(publisher), queued_(batch.puts.size()) {}

char* OpenUnit::room_for(int variable, std::int64_t bytes) {
    Queued& queued = queued_[variable];
    if (queued.at != nullptr) return queued.at;
    Outbox& outbox = publisher_.outbox();
    // Without boxes, the size of the queue was chosen so that the descriptor fits.
    queued = {outbox.take(bytes, boxes_.empty() ? 0 : descriptor_bytes()), bytes, outbox.mark()};
    return queued.at;
}

std::int64_t OpenUnit::plain_descriptor_bytes() const {
    const std::int64_t n = queued_.size();
    return Outbox::rounded(8 * (17 + n / 16 + 4 + 2 * n));
}

std::int64_t OpenUnit::descriptor_bytes() const { return plain_descriptor_bytes() + description_; }

std::int64_t OpenUnit::descriptor_bytes_with_part() const {
    return plain_descriptor_bytes() + descriptor_bytes();
}

bool OpenUnit::empty() const {
    return boxes_.empty() && std::none_of(queued_.begin(), queued_.end(),
                                          [](const Queued& q) { return q.at != nullptr; });
}

void OpenUnit::add_box(Parcel::Entry entry, std::int64_t bytes, std::int64_t description) {
    if (boxes_.empty()) boxes_mark_ = publisher_.outbox().mark();
    box_bytes_ += bytes + description;
    description_ += description;
    boxes_.push_back(std::move(entry));
}

Parcel OpenUnit::parcel(UnitKind kind) const {
    return with_reserve([&] { return make_parcel(kind); });
}

Parcel OpenUnit::make_parcel(UnitKind kind) const {
    const std::size_t words = (queued_.size() + 63) / 64;
    Parcel parcel;
    parcel.told.reserve(queued_.size());
    parcel.head.kind = kind;
    parcel.head.rank = file_.team.rank();
    parcel.head.record = batch_.record;
    parcel.head.step = steps_;
    parcel.head.given = batch_.given;
    parcel.head.records = batch_.file_records;
    for (auto* mask : {&parcel.put, &parcel.lacking, &parcel.bare, &parcel.with_halo})
        mask->assign(words, 0);
    return parcel;
}

/// Describes which variables were put, in which form, and where their data are queued.
void OpenUnit::describe(Parcel& parcel, UnitKind kind) const {
    for (std::size_t i = 0; i < queued_.size(); ++i) {
        const Batch::Put& part = batch_.puts[i];
        const Variable& v = file_.definitions.variables[i];
        if (v.record && kind != UnitKind::step) continue;
        if (part.put)
            set_bit(parcel.put, i);
        else if (!part.written && file_.holdings[i]->decomposition->has_part())
            set_bit(parcel.lacking, i);
        if (part.put && part.form == Form::without_halo) set_bit(parcel.bare, i);
        if (part.put && part.form == Form::with_halo) set_bit(parcel.with_halo, i);
        if (part.put && queued_[i].at != nullptr)
            parcel.told.push_back(
                {static_cast<int>(i), publisher_.outbox().position(queued_[i].at)});
    }
}

/// Returns the mark of the first record variable that waits for the end of the step; -1: there is
/// none.
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
    Parcel unit = parcel(step && batch_.boxed ? UnitKind::boxes : kind);
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

void OpenUnit::publish_early() {
    Parcel unit = parcel(UnitKind::boxes);
    unit.head.ends = false;
    // Data queued by tw_put are published with the boxes, as they would otherwise keep the room
    // that boxes need.
    for (std::size_t i = 0; i < queued_.size(); ++i) {
        if (queued_[i].at == nullptr) continue;
        unit.told.push_back({static_cast<int>(i), publisher_.outbox().position(queued_[i].at)});
        queued_[i] = {};
    }
    unit.entries = std::exchange(boxes_, {});
    box_bytes_ = description_ = 0;
    publisher_.publish(unit);
}

void OpenUnit::publish_part(int variable, ElementRange range, const char* at) {
    Parcel unit = parcel(UnitKind::part);
    unit.head.variable = variable;
    unit.head.begin = range.begin;
    unit.head.end = range.end;
    if (at != nullptr) unit.told.push_back({variable, publisher_.outbox().position(at)});
    publisher_.publish(unit, boxes_.empty() ? -1 : boxes_mark_);
}

void OpenUnit::publish_fill(std::span<const int> variables) {
    Parcel unit = parcel(UnitKind::fill);
    unit.head.records = 0;  // it ends no record
    for (const int v : variables) set_bit(unit.put, v);
    std::int64_t first = boxes_.empty() ? -1 : boxes_mark_;
    for (const Queued& q : queued_)
        if (q.at != nullptr && (first < 0 || q.mark < first)) first = q.mark;
    publisher_.publish(unit, first);
}

void OpenUnit::gather() {
    Outbox& outbox = publisher_.outbox();
    std::vector<Queued*> open;
    with_reserve([&] { open.reserve(queued_.size()); });
    for (Queued& q : queued_)
        if (q.at != nullptr) open.push_back(&q);
    // Moves from low addresses to high ones, so that nothing is overwritten before it has moved.
    std::sort(open.begin(), open.end(), [](auto* a, auto* b) { return a->at < b->at; });
    outbox.restart();
    for (Queued* q : open) {
        char* to = outbox.take(q->bytes);
        std::memmove(to, q->at, q->bytes);
        q->at = to;
        q->mark = outbox.mark();
    }
}

}  // namespace thalweg::detail
