// SPDX-License-Identifier: Apache-2.0
#include "service/queue/composer.hpp"

#include <algorithm>
#include <utility>

#include "base/trace.hpp"
#include "definitions/fill.hpp"

namespace thalweg::detail {

Composer::Composer(const Definitions& definitions, std::vector<char> whole, const Spaces& spaces,
                   const Layout& layout, int writer, Storage& storage, std::int64_t piece,
                   BetweenPieces* pause, Existing existing)
    : out_(definitions, spaces, layout, writer, storage, piece, pause),
      whole_(std::move(whole)),
      existing_(existing),
      filled_(definitions.variables.size(), existing.is),
      parted_(definitions.variables.size(), 0),
      records_(existing.first) {}

/// Makes the box composer at the first call, and tells it which variables steps have written so
/// far, because it must not overwrite their data with fill values.
BoxComposer& Composer::boxes() {
    if (boxes_) return *boxes_;
    out_.storage().begin_boxes();
    boxes_.emplace(out_, existing_, records_);
    for (const bool records : {false, true})
        for (const Place& p : out_.spaces().of(records).places)
            if ((records ? parted_ : filled_)[p.variable] != 0)
                boxes_->note_part(p.variable, records ? records_ : 0);
    return *boxes_;
}

/// Sorts the boxes of the unit parts by variable and position, and records which variables each
/// rank put.
void Composer::collect(std::span<const UnitPart> unit_parts) {
    put_.assign((out_.variables().size() + 63) / 64, 0);
    entries_.clear();
    held_.assign(out_.variables().size(), {});
    for (const UnitPart& p : unit_parts) {
        for (std::size_t i = 0; i < put_.size() && i < p.put.size(); ++i) put_[i] |= p.put[i];
        for (const UnitPart::Entry& e : p.entries) {
            HeldBox held = e.held;
            held.block = entries_.size();
            entries_.push_back(&e);
            held_[e.variable].push_back(held);
        }
    }
    for (auto& held : held_)
        std::sort(held.begin(), held.end(),
                  [](const HeldBox& a, const HeldBox& b) { return a.first < b.first; });
}

bool Composer::was_put(int variable) const {
    const std::size_t v = variable;
    return (static_cast<std::uint64_t>(put_[v / 64]) >> (v % 64)) & 1;
}

Status Composer::write(std::span<const UnitPart> unit_parts) {
    if (unit_parts.empty()) return {};
    if (boxes_ || std::any_of(unit_parts.begin(), unit_parts.end(),
                              [](const UnitPart& p) { return p.head.boxed; }))
        return write_boxed(unit_parts);
    switch (unit_parts.front().head.kind) {
        case UnitKind::step: return write_step(unit_parts);
        case UnitKind::fixed:
        case UnitKind::last:
        case UnitKind::fill: return write_fixed(unit_parts, unit_parts.front().head.kind);
        case UnitKind::part: return write_part(unit_parts);
        case UnitKind::boxes: break;
    }
    return write_boxed(unit_parts);
}

/// Writes the boxes of a unit into their records, and completes the records that it ends.
Status Composer::write_boxed(std::span<const UnitPart> unit_parts) {
    BoxComposer& boxes = this->boxes();
    const UnitHead& first = unit_parts.front().head;
    Status status = boxes.write(unit_parts);
    if (first.kind == UnitKind::boxes || first.kind == UnitKind::part) return status;
    std::int64_t records = 0;
    bool given = false;
    for (const UnitPart& p : unit_parts) {
        records = std::max(records, p.head.records);
        given |= p.head.given;
    }
    // In a file that only tw_put writes, each step is a record.
    if (first.kind == UnitKind::step && !given && !out_.spaces().record.places.empty())
        records = std::max(records, first.record + 1);
    if (status.ok()) status = boxes.end_records(records);
    if (status.ok() && (first.kind == UnitKind::last || first.kind == UnitKind::fill))
        status = boxes.fill_fixed(unit_parts.front());
    return status;
}

void Composer::go_on(std::int64_t records, std::vector<char> filled) {
    records_ = records;
    filled_ = std::move(filled);
}

Status Composer::write_step(std::span<const UnitPart> unit_parts) {
    const std::span<const Place> places = out_.spaces().record.places;
    Status status = write_fixed(unit_parts, UnitKind::fixed);
    if (!status.ok() || places.empty()) return status;
    std::vector<Action> actions;
    std::vector<char> wanted;
    for (const Place& p : places) {
        actions.push_back(was_put(p.variable)        ? Action::data
                          : parted_[p.variable] != 0 ? Action::skip
                                                     : Action::fill);
        wanted.push_back(actions.back() != Action::skip);
    }
    const Share share = out_.share(true, records_);
    status = pass(true, actions, share, wanted_of(share, wanted));
    for (const Place& p : places) parted_[p.variable] = 0;
    ++records_;
    return status;
}

Status Composer::write_fixed(std::span<const UnitPart> unit_parts, UnitKind kind) {
    collect(unit_parts);
    std::vector<Action> actions;
    std::vector<char> wanted;
    for (const Place& p : out_.spaces().fixed.places) {
        const std::size_t v = p.variable;
        const bool named = was_put(p.variable), data = named && kind != UnitKind::fill;
        const bool fills = (kind == UnitKind::last && !stays_hole(out_.variable(p.variable))) ||
                           (named && kind == UnitKind::fill);
        actions.push_back(data ? Action::data : fills && !filled_[v] ? Action::fill : Action::skip);
        wanted.push_back(actions.back() != Action::skip);
        if (wanted.back()) filled_[v] = 1;
    }
    const Share share = out_.share(false, 0);
    return pass(false, actions, share, wanted_of(share, wanted));
}

Status Composer::write_part(std::span<const UnitPart> unit_parts) {
    collect(unit_parts);
    const UnitHead& head = unit_parts.front().head;
    const bool records = out_.variable(head.variable).record;
    const Space& space = out_.spaces().of(records);
    const std::size_t at = space.place_of(head.variable);
    std::vector<Action> actions(space.places.size(), Action::skip);
    actions[at] = Action::data;
    (records ? parted_ : filled_)[head.variable] = 1;
    const Share share = out_.share(records, records_);
    return pass(records, actions, share, wanted_of(share, at, {head.begin, head.end}));
}

/// Packs a piece into the buffer.
void Composer::pack(std::span<const Action> actions, const Share& share, Extent piece,
                    char* to) const {
    const std::span<const Place> places = share.space().places;
    out_.fill(share, piece, to, [&](std::size_t place) {
        return actions[place] == Action::data && whole_[places[place].variable] != 0;
    });
    for_places(share.space(), piece, [&](std::size_t place, ElementRange range) {
        if (actions[place] != Action::data) return;
        out_.copy(share, piece, place, range, held_[places[place].variable], entries_, to);
    });
}

/// Writes the wanted bytes of this writer's share of one space: the record variables of the current
/// record, or the fixed-size variables.
Status Composer::pass(bool records, std::span<const Action> actions, const Share& share,
                      std::vector<Extent> wanted) {
    return out_.write(share, records, records ? records_ : 0, std::move(wanted),
                      [&](Extent piece, std::span<const Chunk>, char* buffer) -> Status {
                          Span span("pack");
                          span.record(records ? records_ : -1).bytes(piece.size());
                          pack(actions, share, piece, buffer);
                          return {};
                      });
}

}  // namespace thalweg::detail
