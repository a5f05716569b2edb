// SPDX-License-Identifier: Apache-2.0
#include "service/queue/box_units.hpp"

#include <algorithm>

#include "service/queue/check_units.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a rank ends its step with this unit.
bool ends(const UnitPart& unit_part) {
    return unit_part.head.kind == UnitKind::step ||
           (unit_part.head.kind == UnitKind::boxes && unit_part.head.ends);
}

/// Keeps of a written unit part only what is needed later: that its rank has ended the step, and
/// which variables it put.
UnitPart end_of(const UnitPart& unit_part) {
    UnitPart end = without_data(unit_part);
    end.head.kind = UnitKind::boxes;
    end.head.variable = -1;
    end.head.begin = end.head.end = 0;
    return end;
}

BoxUnit open(const UnitWriterSources& sources, UnitSource& source) {
    BoxUnit unit;
    unit.source = &source;
    unit.unit_parts = sources.open(source);
    unit.sent = source.next < source.sent;
    for (const UnitPart& p : unit.unit_parts) {
        unit.ended.push_back(end_of(p));
        if (is_mark(p.head.kind)) continue;
        unit.ends &= ends(p);
        // A unit of boxes without entries still announces that the file is written by boxes, and
        // the number of records.
        unit.any |= !p.entries.empty() || (p.head.kind == UnitKind::boxes && !ends(p));
    }
    // Some ranks for which a feeder sends may only wait at a mark, and have no unit part to write.
    std::erase_if(unit.unit_parts, [](const UnitPart& p) { return is_mark(p.head.kind); });
    return unit;
}

}  // namespace

std::vector<BoxUnit> units_together(UnitWriterSources& sources) {
    std::vector<UnitSource*> ready;
    bool complete = true;
    for (UnitSource& s : sources) {
        const bool has = sources.has_next(s);
        complete &= has || !s.ended.empty();
        if (has && !sources.at_mark(s)) ready.push_back(&s);
    }
    if (std::none_of(ready.begin(), ready.end(), [](const UnitSource* s) { return s->ahead(); }))
        std::erase_if(ready, [&](const UnitSource* s) {
            return (!complete || !s->ended.empty()) && has_data(s->descriptor(s->next));
        });
    std::vector<BoxUnit> units;
    for (UnitSource* s : ready) units.push_back(open(sources, *s));
    return units;
}

std::vector<BoxUnit> units_as_they_come(UnitWriterSources& sources, UnitWriterHost& host) {
    std::vector<BoxUnit> units;
    bool complete = true;
    for (UnitSource& s : sources) {
        const bool has = sources.has_next(s);
        complete &= has || !s.ended.empty();
        if (!has || sources.at_mark(s)) continue;
        BoxUnit unit = open(sources, s);
        unit.goes_on = s.region && unit.any && !unit.sent && host.forwards();
        if (!unit.goes_on || host.may_forward()) units.push_back(std::move(unit));
    }
    if (!complete)
        std::erase_if(units, [&](const BoxUnit& u) { return u.ends && !u.source->far_ahead(); });
    return units;
}

std::vector<UnitPart> take_unit_parts(std::vector<BoxUnit>& units) {
    std::vector<UnitPart> all;
    for (BoxUnit& u : units)
        if (u.goes_on)
            all.insert(all.end(), u.unit_parts.begin(), u.unit_parts.end());
        else
            std::move(u.unit_parts.begin(), u.unit_parts.end(), std::back_inserter(all));
    std::stable_sort(all.begin(), all.end(), [](const UnitPart& a, const UnitPart& b) {
        return a.head.rank < b.head.rank;
    });
    return all;
}

}  // namespace thalweg::detail
