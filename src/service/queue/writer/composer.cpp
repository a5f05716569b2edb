// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/composer.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/trace.hpp"
#include "definitions/fill.hpp"
#include "exchange/copy_runs.hpp"
#include "exchange/delivery.hpp"
#include "exchange/dense.hpp"
#include "index/runs.hpp"
#include "service/bits.hpp"
#include "service/classify.hpp"

namespace thalweg::detail {

namespace {

/// Runs of a box shorter than this many bytes are not written one by one.
constexpr std::int64_t shortest_write = 4 << 10;
/// Gaps between runs of at most this many bytes are written together with the runs.
constexpr std::int64_t longest_gap = 64 << 10;

/// Adds row-major ranges of elements (stretches) that together contain a box. If the box's runs are
/// shorter than `shortest` elements, the fastest dimensions are taken whole, and a stretch also has
/// elements outside the box.
/// @return the stretches have no elements outside the box
bool add_stretches(Box box, std::span<const std::int64_t> shape, std::int64_t shortest,
                   std::vector<ElementRange>& stretches) {
    const std::int64_t volume = box.volume();
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
    return box.volume() == volume;
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

    /// Calls visit(box) for the boxes that may overlap a range, in the order in which they were
    /// put. Ranges must ascend from call to call.
    template <class Visit>
    void for_overlapping(ElementRange range, Visit&& visit) {
        const auto ended = [&](int box) { return boxes_[box]->held.last < range.begin; };
        std::erase_if(near_, ended);
        for (; next_ < order_.size() && order_[next_].first < range.end; ++next_)
            if (const int box = order_[next_].second; !ended(box)) near_.push_back(box);
        std::sort(near_.begin(), near_.end());
        for (const int box : near_) visit(*boxes_[box]);
    }

private:
    std::span<const UnitPart::Entry* const> boxes_;
    std::vector<std::pair<std::int64_t, int>> order_;  ///< first element and number of each box
    std::size_t next_ = 0;
    std::vector<int> near_;
};

}  // namespace

Composer::Composer(const Definitions& definitions, std::vector<char> whole, const Spaces& spaces,
                   const Layout& layout, int writer, Storage& storage, Progress& progress,
                   std::int64_t piece, BetweenPieces* pause)
    : definitions_(definitions),
      whole_(std::move(whole)),
      spaces_(spaces),
      layout_(layout),
      writer_(writer),
      storage_(storage),
      piece_(piece),
      pause_(pause),
      progress_(progress) {
    for (const Variable& v : definitions.variables)
        fill_.push_back(v.fill_value(storage.traits().order));
}

// ---- progress -----------------------------------------------------------------------------------

/// Writes by boxes from now on. Counts all records that the file keeps, as boxes may change any of
/// them: steps begin at the record set by tw_set_record, which may be an earlier one.
void Composer::begin_boxes() {
    if (std::exchange(boxed_, true)) return;
    storage_.begin_boxes();
    progress_.keep_records();
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
            const std::int64_t record = boxed_ ? e.record : progress_.records();
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
        const bool asked = kind == UnitKind::fill && named;
        actions.push_back(classify({.put = named && !boxed_ && kind != UnitKind::fill,
                                    .ends = v.record || asked || kind == UnitKind::last,
                                    .hole = storage_.fills(static_cast<int>(actions.size())) ||
                                            (!asked && stays_hole(v))}));
    }
    return actions;
}

/// Returns the number of records after a unit.
std::int64_t Composer::records_after(std::span<const UnitPart> unit_parts) const {
    const UnitHead& first = unit_parts.front().head;
    const bool step = first.kind == UnitKind::step && !spaces_.record.places.empty();
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

/// Writes the boxes of one variable and record. A stretch that was written before is read first,
/// unless the boxes cover it; otherwise elements that no box covers are filled.
Status Composer::write_boxes(const VariableRecord& group, const Boxes& boxes) {
    const auto [variable, record] = group;
    const Variable& v = definitions_.variables[variable];
    const std::int64_t element = v.element();
    const std::int64_t shortest = std::min(shortest_write, piece_) / element;
    const std::int64_t gap = std::min(longest_gap, piece_) / element;
    std::vector<ElementRange> stretches;
    bool covered = true;
    for (const UnitPart::Entry* e : boxes) {
        covered &= add_stretches(e->held.box, v.shape, shortest, stretches);
        covered &= e->held.list == nullptr && !e->within;
    }
    stretches = joined(std::move(stretches));
    Work fresh{spaces_.of(v.record).place_of(variable), {}, boxes};
    Work known = fresh;
    known.covered = covered;
    if (progress_.is_complete(group)) {
        known.ranges = std::move(stretches);
        return write_ranges(v.record, record, {&known, 1}, covered);
    }
    Ranges& written = progress_.elements(group);
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
    Status status = write_ranges(v.record, record, {&fresh, 1}, true);
    return status.ok() ? write_ranges(v.record, record, {&known, 1}, covered) : status;
}

/// Writes a range of a variable, which replaces its data.
Status Composer::write_range(const UnitHead& head, const Groups& groups) {
    const bool records = definitions_.variables[head.variable].record;
    const VariableRecord group{head.variable, records ? progress_.records() : 0};
    const auto boxes = groups.find(group);
    Work work{spaces_.of(records).place_of(head.variable), {{head.begin, head.end}}};
    if (boxes != groups.end()) work.boxes = boxes->second;
    work.covered = whole_[head.variable] != 0;
    progress_.elements(group).add(head.begin, head.end);
    return write_ranges(records, group.record, {&work, 1}, true);
}

/// Writes the fixed-size variables, or the open record.
Status Composer::write_space(bool records, std::span<const Action> actions, const Groups& groups) {
    const std::int64_t record = records ? progress_.records() : 0;
    const std::span<const Place> places = spaces_.of(records).places;
    std::vector<Work> work;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int variable = places[i].variable;
        const VariableRecord group{variable, record};
        if (actions[variable] == Action::fill) work.push_back({i, progress_.take_missing(group)});
        if (actions[variable] != Action::data) continue;
        progress_.add_all(group);
        const std::int64_t elements = definitions_.variables[variable].elements();
        work.push_back({i, {{0, elements}}, {}, whole_[variable] != 0});
        if (const auto boxes = groups.find(group); boxes != groups.end())
            work.back().boxes = boxes->second;
    }
    return write_ranges(records, record, work, true);
}

Status Composer::end_records(std::int64_t records, std::span<const Action> actions,
                             const Groups& groups) {
    for (; progress_.records() < records; progress_.note_records(progress_.records() + 1))
        if (Status s = write_space(true, actions, groups); !s.ok()) return s;
    return {};
}

// ---- ranges -------------------------------------------------------------------------------------

/// Writes ranges of some variables of one space, which boxes need not cover. Later boxes overwrite
/// earlier ones.
/// @param fresh  the rest of the ranges is filled; otherwise it stays as it is in the file
Status Composer::write_ranges(bool records, std::int64_t record, std::span<const Work> work,
                              bool fresh) {
    if (std::all_of(work.begin(), work.end(), [](const Work& w) { return w.ranges.empty(); }))
        return {};
    const Space& space = spaces_.of(records);
    const std::int64_t base = spaces_.base(records, record);
    const Share share = layout_.share(writer_, space, base);
    std::vector<char> covered(space.places.size(), 0);
    std::map<std::size_t, Sweep> sweeps;
    std::vector<Extent> wanted;
    for (const Work& w : work) {
        add_wanted(share, w.place, w.ranges, wanted);
        if (!w.boxes.empty()) sweeps.emplace(w.place, w.boxes);
        covered[w.place] = w.covered;
    }
    PieceCursor cursor(share.space(), intersect(share.extents(), wanted), piece_);
    for (Extent piece; cursor.next(piece);) {
        const std::size_t bytes = piece.size();
        if (bytes > buffer_.size())
            if (Status s = alone([&] { buffer_.resize(bytes); }); !s.ok()) return s;
        char* const to = buffer_.data();
        std::deque<Box> boxes;
        const auto chunks = chunks_of(share, space, piece, to, base, record, boxes);
        if (!fresh)
            if (Status s = read_before(chunks); !s.ok()) return s;
        {
            Span span("pack");
            span.record(records ? record : -1).bytes(piece.size());
            if (fresh)
                prefill_piece(share.space(), piece, to, fill_,
                              [&](std::size_t place) { return covered[place] != 0; });
            for_places(share.space(), piece, [&](std::size_t place, ElementRange range) {
                const auto sweep = sweeps.find(place);
                if (sweep == sweeps.end()) return;
                sweep->second.for_overlapping(
                    share.reach(place, range),
                    [&](const UnitPart::Entry& e) { copy(share, piece, place, range, e); });
            });
        }
        if (Status s = storage_.write(chunks); !s.ok()) return s;
        if (pause_ != nullptr) pause_->between_pieces();
    }
    return {};
}

/// Reads the present data of a piece from the file into the buffer.
Status Composer::read_before(std::span<const Chunk> chunks) {
    for (const Chunk& chunk : chunks)
        if (Status s = storage_.read(chunk, buffer_.data() + (chunk.data - buffer_.data()));
            !s.ok())
            return s;
    return {};
}

/// Copies into the buffer the elements of a box that lie in a range of a place.
void Composer::copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
                    const UnitPart::Entry& entry) {
    const Place& p = share.space().places[place];
    const Index to_stride = byte_strides(p);
    const RowKernel kernel = move_kernel(p.element);
    for_frames(share, place, range, {&entry.held, 1}, [&](const HeldBox& h, const Box& part) {
        const Index stride = dense_strides(h, p.element);
        const char* const from = entry.data + offset_in(h, part, stride);
        char* const into =
            buffer_.data() + (p.offset + share.position(place, part.low) * p.element - piece.begin);
        copy_held(h, part, {RunOrder::indices, into, to_stride},
                  {RunOrder::positions, from, stride}, kernel, nullptr);
    });
}

}  // namespace thalweg::detail
