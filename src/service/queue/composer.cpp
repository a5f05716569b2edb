// SPDX-License-Identifier: Apache-2.0
#include "service/queue/composer.hpp"

#include <algorithm>
#include <utility>

#include "definitions/fill.hpp"
#include "exchange/dense.hpp"
#include "index/runs.hpp"
#include "service/bits.hpp"

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

}  // namespace

Composer::Composer(const Definitions& definitions, std::vector<char> whole, const Spaces& spaces,
                   const Layout& layout, int writer, Storage& storage, std::int64_t piece,
                   BetweenPieces* pause, Existing existing)
    : definitions_(definitions),
      whole_(std::move(whole)),
      spaces_(spaces),
      storage_(storage),
      piece_(piece),
      writer_(definitions, spaces, layout, writer, storage, piece, pause),
      written_(definitions, spaces, existing) {}

// ---- progress -----------------------------------------------------------------------------------

/// Writes by boxes from now on. Counts all records that the file keeps, as boxes may change any of
/// them: steps begin at the record set by tw_set_record, which may be an earlier one.
void Composer::begin_boxes() {
    if (std::exchange(boxed_, true)) return;
    storage_.begin_boxes();
    written_.keep_records();
}

void Composer::go_on(std::int64_t records, std::span<const char> filled) {
    written_.go_on(records);
    for (const Place& p : spaces_.fixed.places)
        if (filled[p.variable] != 0) written_.add_all({p.variable, 0});
    begin_boxes();
}

void Composer::note_records(std::int64_t records) {
    while (this->records() < records) written_.end_record();
}

// ---- units --------------------------------------------------------------------------------------

Status Composer::write(std::span<const UnitPart> unit_parts) {
    if (unit_parts.empty()) return {};
    const UnitHead& head = unit_parts.front().head;
    if (std::any_of(unit_parts.begin(), unit_parts.end(), [](const UnitPart& p) {
            return p.head.boxed || p.head.kind == UnitKind::boxes;
        }))
        begin_boxes();
    const Groups groups = group(unit_parts);
    if (!boxed_ && head.kind == UnitKind::part) return write_range(head, groups);
    if (boxed_)
        for (const auto& [group, boxes] : groups)
            if (Status s = write_boxes(group, boxes); !s.ok()) return s;
    if (head.kind == UnitKind::part || head.kind == UnitKind::boxes) return {};
    const std::vector<Action> actions = this->actions(unit_parts);
    Status status = write_space(false, actions, groups);
    return status.ok() ? end_records(records_after(unit_parts), actions, groups) : status;
}

/// Collects the boxes by variable and record, in the order in which they were put.
Composer::Groups Composer::group(std::span<const UnitPart> unit_parts) const {
    Groups groups;
    for (const UnitPart& p : unit_parts)
        for (const UnitPart::Entry& e : p.entries) {
            const std::int64_t record = boxed_ ? e.record : records();
            const bool has_records = definitions_.variables[e.variable].record;
            if (elements_of(e.held) > 0)
                groups[{e.variable, has_records ? record : 0}].push_back(&e);
        }
    return groups;
}

/// Returns what the end of a unit does with each variable: replaces those that were put, if the
/// file is not written by boxes, and fills what was never written of others.
std::vector<Action> Composer::actions(std::span<const UnitPart> unit_parts) const {
    const UnitKind kind = unit_parts.front().head.kind;
    const std::vector<std::int64_t> put = combined(unit_parts, &UnitPart::put);
    std::vector<Action> actions;
    for (const Variable& v : definitions_.variables) {
        const bool named = has_bit(put, actions.size());
        const bool fills =
            v.record || (kind == UnitKind::fill ? named : kind == UnitKind::last && !stays_hole(v));
        const bool data = named && !boxed_ && kind != UnitKind::fill;
        actions.push_back(data ? Action::data : fills ? Action::fill : Action::skip);
    }
    return actions;
}

/// Returns the number of records after a unit.
std::int64_t Composer::records_after(std::span<const UnitPart> unit_parts) const {
    const UnitHead& first = unit_parts.front().head;
    const bool step = first.kind == UnitKind::step && !spaces_.record.places.empty();
    if (!boxed_) return this->records() + (step ? 1 : 0);
    std::int64_t records = 0;
    bool given = false;
    for (const UnitPart& p : unit_parts) {
        records = std::max(records, p.head.records);
        given |= p.head.given;
    }
    // In a file that only tw_put writes, each step is a record.
    return step && !given ? std::max(records, first.record + 1) : records;
}

/// Writes the boxes of one variable and record. A stretch that was written before is read first;
/// otherwise elements that no box covers are filled.
Status Composer::write_boxes(const VariableRecord& group, const Boxes& boxes) {
    const auto [variable, record] = group;
    const Variable& v = definitions_.variables[variable];
    const std::int64_t element = v.element();
    const std::int64_t shortest = std::min(shortest_write, piece_) / element;
    const std::int64_t gap = std::min(longest_gap, piece_) / element;
    std::vector<ElementRange> stretches;
    for (const UnitPart::Entry* e : boxes) add_stretches(e->held.box, v.shape, shortest, stretches);
    stretches = joined(std::move(stretches));
    ShareWriter::Work fresh{spaces_.of(v.record).place_of(variable), {}, boxes};
    ShareWriter::Work known = fresh;
    if (written_.is_complete(group)) {
        known.ranges = std::move(stretches);
        return writer_.write(v.record, record, {&known, 1}, false);
    }
    Ranges& written = written_.elements(group);
    for (const ElementRange& stretch : stretches)
        written.split(stretch.begin, stretch.end,
                      [&](std::int64_t begin, std::int64_t end, bool inside) {
                          std::vector<ElementRange>& ranges = fresh.ranges;
                          if (!inside && !ranges.empty() && begin - ranges.back().end <= gap &&
                              !written.meets(ranges.back().end, begin))
                              ranges.back().end = end;
                          else
                              (inside ? known.ranges : ranges).push_back({begin, end});
                      });
    for (const ElementRange& f : fresh.ranges) written.add(f.begin, f.end);
    Status status = writer_.write(v.record, record, {&fresh, 1}, true);
    return status.ok() ? writer_.write(v.record, record, {&known, 1}, false) : status;
}

/// Writes a range of a variable, which replaces its data.
Status Composer::write_range(const UnitHead& head, const Groups& groups) {
    const bool records = definitions_.variables[head.variable].record;
    const VariableRecord group{head.variable, records ? this->records() : 0};
    const auto boxes = groups.find(group);
    ShareWriter::Work work{spaces_.of(records).place_of(head.variable), {{head.begin, head.end}}};
    if (boxes != groups.end()) work.boxes = boxes->second;
    work.covered = whole_[head.variable] != 0;
    written_.elements(group).add(head.begin, head.end);
    return writer_.write(records, group.record, {&work, 1}, true);
}

/// Writes the fixed-size variables, or the open record.
Status Composer::write_space(bool records, std::span<const Action> actions, const Groups& groups) {
    const std::int64_t record = records ? this->records() : 0;
    const std::span<const Place> places = spaces_.of(records).places;
    std::vector<ShareWriter::Work> work;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int variable = places[i].variable;
        const VariableRecord group{variable, record};
        if (actions[variable] == Action::fill) work.push_back({i, written_.take_missing(group)});
        if (actions[variable] != Action::data) continue;
        written_.add_all(group);
        const std::int64_t elements = definitions_.variables[variable].elements();
        work.push_back({i, {{0, elements}}, {}, whole_[variable] != 0});
        if (const auto boxes = groups.find(group); boxes != groups.end())
            work.back().boxes = boxes->second;
    }
    return writer_.write(records, record, work, true);
}

Status Composer::end_records(std::int64_t records, std::span<const Action> actions,
                             const Groups& groups) {
    for (; this->records() < records; written_.end_record())
        if (Status s = write_space(true, actions, groups); !s.ok()) return s;
    return {};
}

Status Composer::end_records(std::int64_t records) {
    begin_boxes();
    return end_records(records, std::vector(definitions_.variables.size(), Action::fill), {});
}

}  // namespace thalweg::detail
