// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/record_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/bits.hpp"
#include "definitions/fill.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/progress.hpp"

namespace thalweg::detail {

RecordWriter::RecordWriter(const Definitions& definitions, std::vector<char> whole,
                           const FileSections& sections, const Layout& layout, int writer,
                           Storage& storage, Progress& progress, std::int64_t piece,
                           BetweenPieces* pause)
    : definitions_(definitions),
      whole_(std::move(whole)),
      sections_(sections),
      storage_(storage),
      progress_(progress),
      writer_(definitions, sections, layout, writer, storage, progress, piece, pause) {}

// ---- progress -----------------------------------------------------------------------------------

/// Writes by boxes from now on. Counts all records that the file keeps, as boxes may change any of
/// them: steps begin at the record set by tw_set_record, which may be an earlier one.
void RecordWriter::begin_boxes() {
    if (std::exchange(boxed_, true)) return;
    storage_.begin_boxes();
    progress_.keep_records();
}

// ---- units --------------------------------------------------------------------------------------

Status RecordWriter::write(std::span<const UnitPart> unit_parts) {
    if (unit_parts.empty()) return {};
    const UnitHead& head = unit_parts.front().head;
    if (std::any_of(unit_parts.begin(), unit_parts.end(), [](const UnitPart& p) {
            return p.head.boxed || p.head.kind == UnitKind::boxes;
        }))
        begin_boxes();
    const Groups groups = group(unit_parts);
    if (boxed_)
        for (const auto& [group, boxes] : groups)
            if (Status s = writer_.merge(group, boxes); !s.ok()) return s;
    if (head.kind == UnitKind::boxes) return {};
    const std::vector<Action> actions = this->actions(unit_parts);
    Status status = write_section(false, actions, groups);
    return status.ok() ? end_records(records_after(unit_parts), actions, groups) : status;
}

/// Collects the boxes by variable and record, in the order in which they were put.
RecordWriter::Groups RecordWriter::group(std::span<const UnitPart> unit_parts) const {
    Groups groups;
    for (const UnitPart& p : unit_parts)
        for (const PackedValues& e : p.entries) {
            const std::int64_t record = boxed_ ? e.record : progress_.records();
            const bool has_records = definitions_.variables[e.variable].record;
            if (elements_of(e.held) > 0)
                groups[{e.variable, has_records ? record : 0}].push_back(&e);
        }
    return groups;
}

/// Returns what the end of a unit does with each variable: replaces those that were put, if the
/// file is not written by boxes, and fills what was never written of others.
std::vector<Action> RecordWriter::actions(std::span<const UnitPart> unit_parts) const {
    const UnitKind kind = unit_parts.front().head.kind;
    const std::vector<std::int64_t> put = combined(unit_parts, &UnitPart::put);
    std::vector<Action> actions;
    for (const Variable& v : definitions_.variables) {
        const bool named = has_bit(put, actions.size());
        const bool asked = kind == UnitKind::fill && named;
        actions.push_back(classify({.put = named && !boxed_ && kind != UnitKind::fill,
                                    .ends = v.record || asked || kind == UnitKind::last,
                                    .hole = storage_.fills(static_cast<int>(actions.size())) ||
                                            (!asked && stays_hole(v))}));
    }
    return actions;
}

/// Returns the number of records after a unit.
std::int64_t RecordWriter::records_after(std::span<const UnitPart> unit_parts) const {
    const UnitHead& first = unit_parts.front().head;
    const bool step = first.kind == UnitKind::step && !sections_.record.places.empty();
    if (!boxed_) return progress_.records() + (step ? 1 : 0);
    std::int64_t records = 0;
    bool given = false;
    for (const UnitPart& p : unit_parts) {
        records = std::max(records, p.head.records);
        given |= p.head.given;
    }
    // In a file that only tw_put writes, each step is a record.
    return step && !given ? std::max(records, first.record + 1) : records;
}

/// Writes the fixed-size variables, or the open record.
Status RecordWriter::write_section(bool records, std::span<const Action> actions,
                                   const Groups& groups) {
    const std::int64_t record = records ? progress_.records() : 0;
    const std::span<const VariableSlot> places = sections_.of(records).places;
    std::vector<ShareWriter::Work> work;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int variable = places[i].variable;
        const VariableRecord group{variable, record};
        if (actions[variable] == Action::fill) work.push_back({i, progress_.take_missing(group)});
        if (actions[variable] != Action::data) continue;
        progress_.add_all(group);
        const std::int64_t elements = definitions_.variables[variable].elements();
        work.push_back({i, {{0, elements}}, {}, whole_[variable] != 0, true});
        if (const auto boxes = groups.find(group); boxes != groups.end())
            work.back().boxes = boxes->second;
    }
    return writer_.write(records, record, work, true);
}

Status RecordWriter::end_records(std::int64_t records, std::span<const Action> actions,
                                 const Groups& groups) {
    for (; progress_.records() < records; progress_.note_records(progress_.records() + 1))
        if (Status s = write_section(true, actions, groups); !s.ok()) return s;
    return {};
}

}  // namespace thalweg::detail
