// A desk's work where ranks write by boxes: they are taken as they come, and steps end apart.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "service/queue/check_units.hpp"
#include "service/queue/desk.hpp"

namespace thalweg::detail {

namespace {

/// Whether a rank has ended its step with a unit.
bool ends(const Parcel& parcel) {
    return parcel.head.kind == UnitKind::step ||
           (parcel.head.kind == UnitKind::boxes && parcel.head.ends);
}

/// What is left of a parcel that was written: that its rank has ended the step, and what it put.
Parcel end_of(const Parcel& parcel) {
    Parcel end = parcel;
    end.entries.clear();
    end.head.kind = UnitKind::boxes;
    end.head.variable = -1;
    end.head.begin = end.head.end = 0;
    return end;
}

}  // namespace

/// Whether some rank writes by boxes: then its units wait for nobody.
bool Desk::boxes_next() { return composer_.boxed() || sources_.any_boxes(); }

/// A step of boxes ends when all ranks have ended it, or wait at a mark: a tw_sync or tw_close,
/// which the ranks pass together.
bool Desk::work_boxes() {
    if (take_boxes()) return true;
    bool worked = false;
    bool all = true, near = true, all_marks = true;
    std::vector<Parcel> parcels, own;
    for (DeskSource& s : sources_) {
        std::vector<Parcel> its;
        if (!s.ended.empty()) {
            its = s.ended.front();
            all_marks = false;
        } else if (sources_.at_mark(s)) {
            its = sources_.open(s);
        } else {
            all = false;
            near &= !s.region;
        }
        if (s.region) own.insert(own.end(), its.begin(), its.end());
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    if (near && host_.forwards() && forwarded_ == worked_) {
        if (!send_on(own)) return false;
        worked = true;
    }
    if (!all) return worked;
    end_boxes(parcels, all_marks);
    if (all_marks) marks_sent_ = false;
    for (DeskSource& s : sources_) {
        if (all_marks)
            take(s);
        else if (!s.ended.empty())
            s.ended.pop_front();
    }
    finish_round(all_marks);
    return true;
}

/// Boxes of all ranks are written together: alone they may be parts of rows, of which the rest
/// would be read and written again. A rank that is ahead does not wait for the others: it needs the
/// room in its queue.
bool Desk::take_boxes() {
    const bool alone = std::all_of(sources_.begin(), sources_.end(),
                                   [](const DeskSource& s) { return s.region != nullptr; });
    if (!alone || host_.forwards()) return write_as_they_come();
    std::vector<DeskSource*> ready;
    bool complete = true;
    for (DeskSource& s : sources_) {
        const bool has = sources_.has_next(s);
        complete = complete && (has || !s.ended.empty());
        if (has && !sources_.at_mark(s)) ready.push_back(&s);
    }
    if (std::none_of(ready.begin(), ready.end(), [](const DeskSource* s) { return s->ahead(); }))
        std::erase_if(ready, [&](const DeskSource* s) {
            return (!complete || !s->ended.empty()) && has_data(s->descriptor(s->next));
        });
    if (ready.empty()) return false;
    std::vector<Parcel> together;
    for (DeskSource* s : ready) {
        Parcel parcel = std::move(sources_.open(*s).front());
        if (ends(parcel)) s->ended.push_back({end_of(parcel)});
        together.push_back(std::move(parcel));
    }
    std::stable_sort(together.begin(), together.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    write_boxes(together);
    for (DeskSource* s : ready) take(*s);
    return true;
}

/// The same with several nodes: what is there is written, unless it is the end of a step of a rank
/// that can wait. A node's boxes go to the others when they are written here, so that nodes which
/// waited for all ranks would wait for each other.
bool Desk::write_as_they_come() {
    struct Taken {
        DeskSource* source;
        std::vector<Parcel> parcels, ended;
        bool ends, any;
        bool sent;  ///< before boxes came
    };
    std::vector<Taken> all;
    bool complete = true;
    for (DeskSource& s : sources_) {
        const bool has = sources_.has_next(s);
        complete &= has || !s.ended.empty();
        if (!has || sources_.at_mark(s)) continue;
        Taken t{&s, sources_.open(s), {}, true, false, s.next < s.sent};
        for (const Parcel& p : t.parcels) {
            t.ended.push_back(end_of(p));
            if (is_mark(p.head.kind)) continue;
            t.ends &= ends(p);
            // Without entries it tells that the file has boxes, and how many records.
            t.any |= !p.entries.empty() || (p.head.kind == UnitKind::boxes && !ends(p));
        }
        if (s.region && t.any && !t.sent && host_.forwards() && !host_.may_forward()) continue;
        // A feeder's message is used even where some of its ranks wait at a mark.
        std::erase_if(t.parcels, [](const Parcel& p) { return is_mark(p.head.kind); });
        all.push_back(std::move(t));
    }
    if (!complete)
        std::erase_if(all, [&](const Taken& t) { return t.ends && !t.source->far_ahead(); });
    if (all.empty()) return false;
    std::vector<Parcel> together;
    for (const Taken& t : all) together.insert(together.end(), t.parcels.begin(), t.parcels.end());
    std::stable_sort(together.begin(), together.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    write_boxes(together);
    for (Taken& t : all) {
        // Of a round that boxes have overtaken: what comes next goes to the other nodes in another
        // one, unless the step has ended with it.
        if (t.sent && !t.ends) forwarded_ = worked_;
        if (t.source->region && t.any && !t.sent && host_.forwards()) {
            // The end of the step is sent when all of this node have ended it.
            for (Parcel& p : t.parcels) {
                if (p.head.kind == UnitKind::step) p.head.kind = UnitKind::boxes;
                p.head.ends = false;
            }
            host_.forward(t.parcels);
        }
        if (t.ends) t.source->ended.push_back(std::move(t.ended));
        take(*t.source);
    }
    return true;
}

/// All ranks have ended a step, or all are at a mark.
void Desk::end_boxes(std::span<const Parcel> parcels, bool all_marks) {
    std::int64_t records = 0;
    bool marks = false;
    for (const Parcel& p : parcels) {
        records = std::max(records, p.head.records);
        marks |= is_mark(p.head.kind);
        given_ |= p.head.given;
    }
    // Of a file that only tw_put writes, each step is a record.
    if (!given_ && !marks && !spaces_.record.places.empty())
        records = std::max(records, parcels.front().head.record + 1);
    Status status = failure();
    if (!status.ok()) return;
    // Ranks that are at a mark while others end a step have put nothing of it.
    if (all_marks || !marks)
        status = check_units(parcels, definitions_.variables, options_.path, options_.wording);
    if (status.ok() && all_marks) status = composer_.write_boxes(parcels);
    if (status.ok()) status = composer_.end_boxes(records, all_marks);
    if (status.ok() && all_marks && parcels.front().head.kind == UnitKind::last)
        status = composer_.fill_fixed();
    if (status.ok() && placement_ != nullptr)
        status = placement_->end_unit(composer_.records(), all_marks);
    if (status.ok() && options_.durable && placement_ == nullptr) status = storage_.sync();
    if (!status.ok()) fail(status);
}

void Desk::write_boxes(std::span<const Parcel> parcels) {
    if (!parcels.empty() && failure().ok()) write(composer_.write_boxes(parcels));
}

}  // namespace thalweg::detail
