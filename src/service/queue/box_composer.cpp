// SPDX-License-Identifier: Apache-2.0
#include "service/queue/box_composer.hpp"

#include <algorithm>

#include "definitions/fill.hpp"
#include "exchange/copy.hpp"
#include "exchange/delivery.hpp"
#include "exchange/dense.hpp"
#include "index/runs.hpp"

namespace thalweg::detail {

namespace {

/// Runs of a box shorter than this many bytes are not written one by one.
constexpr std::int64_t shortest_write = 4 << 10;
/// Gaps between runs of at most this many bytes are written together with the runs.
constexpr std::int64_t longest_gap = 64 << 10;

/// Adds row-major ranges of elements (stretches) that together contain a box. If the box's runs are
/// shorter than `shortest` elements, the fastest dimensions are taken whole, and a stretch also has
/// elements outside the box.
void add_stretches(Box box, std::span<const std::int64_t> shape, std::int64_t shortest,
                   std::vector<ElementRange>& stretches) {
    Runs runs = runs_of(box, shape);
    for (int d = box.nd - 1; runs.count > 1 && runs.length < shortest; --d) {
        box.low[d] = 0;
        box.count[d] = shape[d];
        runs = runs_of(box, shape);
    }
    for_runs(box, shape, runs, each_element, [&](std::int64_t begin) {
        stretches.push_back({begin, begin + runs.length});
        return true;
    });
}

/// Sorts stretches, and joins those that touch.
std::vector<ElementRange> joined(std::vector<ElementRange> stretches) {
    std::sort(stretches.begin(), stretches.end(),
              [](const ElementRange& a, const ElementRange& b) { return a.begin < b.begin; });
    std::size_t n = 0;
    for (const ElementRange& s : stretches) {
        if (n > 0 && s.begin <= stretches[n - 1].end)
            stretches[n - 1].end = std::max(stretches[n - 1].end, s.end);
        else
            stretches[n++] = s;
    }
    stretches.resize(n);
    return stretches;
}

/// The boxes of a variable sorted by position, so that a scan over ascending pieces examines only a
/// few of them.
class Sweep {
public:
    explicit Sweep(std::span<const UnitPart::Entry* const> boxes) : boxes_(boxes) {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            order_.emplace_back(boxes[i]->held.first, static_cast<int>(i));
        if (!std::is_sorted(order_.begin(), order_.end())) std::sort(order_.begin(), order_.end());
    }

    /// Returns the numbers of the boxes that may overlap a range, in the order in which they were
    /// put. Ranges must ascend from call to call.
    const std::vector<int>& met(ElementRange range) {
        const auto ended = [&](int box) { return boxes_[box]->held.last < range.begin; };
        std::erase_if(met_, ended);
        for (; next_ < order_.size() && order_[next_].first < range.end; ++next_)
            if (const int box = order_[next_].second; !ended(box)) met_.push_back(box);
        std::sort(met_.begin(), met_.end());
        return met_;
    }

private:
    std::span<const UnitPart::Entry* const> boxes_;
    std::vector<std::pair<std::int64_t, int>> order_;  ///< first element and number of each box
    std::size_t next_ = 0;
    std::vector<int> met_;
};

}  // namespace

/// Counts all records that the file keeps, as boxes may change any of them. Steps begin at the
/// record set by tw_set_record, which may be an earlier one.
BoxComposer::BoxComposer(ShareWriter& out, Existing existing, std::int64_t records)
    : out_(out), existing_(existing), records_(std::max(records, existing.kept)) {}

void BoxComposer::note_part(int variable, std::int64_t record) {
    touched_[{variable, record}].add(0, out_.variable(variable).elements());
}

void BoxComposer::note_written(int variable, std::int64_t record) {
    if (!out_.variable(variable).record || record >= records_) note_part(variable, record);
}

void BoxComposer::note_records(std::int64_t records) {
    while (records_ < records) end_record();
}

/// Ends a record. From now on, nothing is remembered of it.
void BoxComposer::end_record() {
    for (const Place& p : out_.spaces().record.places) touched_.erase({p.variable, records_});
    ++records_;
}

Status BoxComposer::write(std::span<const UnitPart> unit_parts) {
    std::map<Group, std::vector<const UnitPart::Entry*>> groups;
    for (const UnitPart& p : unit_parts)
        for (const UnitPart::Entry& e : p.entries)
            if (elements_of(e.held) > 0) groups[{e.variable, e.record}].push_back(&e);
    for (const auto& [group, boxes] : groups)
        if (Status status = write_group(group, boxes); !status.ok()) return status;
    return {};
}

/// Writes the boxes of one variable and record. A stretch that was written before is read first;
/// otherwise elements that no box covers are filled.
Status BoxComposer::write_group(const Group& group, std::span<const UnitPart::Entry* const> boxes) {
    const auto [variable, record] = group;
    const Variable& v = out_.variable(variable);
    const std::int64_t element = v.element();
    const std::int64_t shortest = std::min(shortest_write, out_.piece()) / element;
    const std::int64_t gap = std::min(longest_gap, out_.piece()) / element;
    std::vector<ElementRange> stretches;
    for (const UnitPart::Entry* e : boxes) add_stretches(e->held.box, v.shape, shortest, stretches);
    stretches = joined(std::move(stretches));
    // Records that have ended are complete, and so are the fixed-size variables of an existing
    // file.
    if (v.record ? record < records_ : existing_.is)
        return write_stretches(group, stretches, false, boxes);
    Ranges& touched = touched_[group];
    std::vector<ElementRange> fresh, known;
    for (const ElementRange& stretch : stretches)
        touched.split(stretch.begin, stretch.end,
                      [&](std::int64_t begin, std::int64_t end, bool inside) {
                          if (!inside && !fresh.empty() && begin - fresh.back().end <= gap &&
                              !touched.meets(fresh.back().end, begin))
                              fresh.back().end = end;
                          else
                              (inside ? known : fresh).push_back({begin, end});
                      });
    for (const ElementRange& f : fresh) touched.add(f.begin, f.end);
    Status status = write_stretches(group, fresh, true, boxes);
    return status.ok() ? write_stretches(group, known, false, boxes) : status;
}

/// Writes ascending stretches of a variable: first fill values or the file's data, over them the
/// boxes in their order.
Status BoxComposer::write_stretches(const Group& group, std::span<const ElementRange> stretches,
                                    bool fresh, std::span<const UnitPart::Entry* const> boxes) {
    if (stretches.empty()) return {};
    const bool records = out_.variable(group.variable).record;
    const std::size_t place = out_.spaces().of(records).place_of(group.variable);
    const Share share = out_.share(records, group.record);
    Sweep sweep(boxes);
    const auto compose = [&](Extent piece, std::span<const Chunk> chunks, char* to) -> Status {
        if (fresh)
            out_.fill(share, piece, to, [](std::size_t) { return false; });
        else if (Status s = read_before(chunks, to); !s.ok())
            return s;
        const ElementRange range = elements_in(share.space().places[place], piece);
        if (range.begin >= range.end) return {};
        for (const int box : sweep.met(share.reach(place, range))) {
            HeldBox held = boxes[box]->held;
            held.block = box;
            out_.copy(share, piece, place, range, {&held, 1}, boxes, to);
        }
        return {};
    };
    return out_.write(share, records, group.record, wanted_of(share, place, stretches), compose);
}

/// Reads the present data of a piece from the file.
Status BoxComposer::read_before(std::span<const Chunk> chunks, char* buffer) {
    for (const Chunk& chunk : chunks)
        if (Status s = out_.storage().read(chunk, buffer + (chunk.data - buffer)); !s.ok())
            return s;
    return {};
}

/// Fills the elements that no box has covered.
Status BoxComposer::fill_untouched(int variable, std::int64_t record) {
    const std::int64_t elements = out_.variable(variable).elements();
    Ranges& touched = touched_[{variable, record}];
    std::vector<ElementRange> rest;
    touched.split(0, elements, [&](std::int64_t begin, std::int64_t end, bool inside) {
        if (!inside) rest.push_back({begin, end});
    });
    touched.add(0, elements);
    return write_stretches({variable, record}, rest, true, {});
}

Status BoxComposer::end_records(std::int64_t records) {
    while (records_ < records) {
        for (const Place& p : out_.spaces().record.places)
            if (Status s = fill_untouched(p.variable, records_); !s.ok()) return s;
        end_record();
    }
    return {};
}

Status BoxComposer::fill_fixed(const UnitPart& unit) {
    if (existing_.is) return {};
    for (const Place& p : out_.spaces().fixed.places) {
        const std::size_t v = p.variable;
        const std::uint64_t word = unit.head.kind == UnitKind::fill ? unit.put[v / 64] : -1;
        if (((word >> (v % 64)) & 1) == 0) continue;
        if (unit.head.kind != UnitKind::fill && stays_hole(out_.variable(p.variable))) continue;
        if (Status s = fill_untouched(p.variable, 0); !s.ok()) return s;
    }
    return {};
}

}  // namespace thalweg::detail
