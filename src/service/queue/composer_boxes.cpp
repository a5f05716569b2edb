// Boxes: what is in the file already stays where no box covers it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "exchange/copy.hpp"
#include "exchange/dense.hpp"
#include "service/queue/composer.hpp"

namespace thalweg::detail {

namespace {

/// Runs of a box that are shorter are not written one by one.
constexpr std::int64_t shortest_write = 4 << 10;
/// Gaps between two stretches that are not longer are filled in the same write.
constexpr std::int64_t longest_gap = 64 << 10;

/// Adds the stretches of a box: row-major ranges of elements that together hold it. Where its runs
/// are shorter than `shortest` elements, dimensions are taken whole, from the fastest on: then a
/// stretch has elements that are not the box's.
void add_stretches(Box box, std::span<const std::int64_t> shape, std::int64_t shortest,
                   std::vector<ElementRange>& stretches) {
    const Index stride = strides_of(shape);
    int inner = box.nd;  // the slowest dimension of a run
    std::int64_t run = 1;
    for (;;) {
        while (inner > 0 && (inner == box.nd || box.count[inner] == shape[inner]))
            run *= box.count[--inner];
        if (run == box.volume() || run >= shortest) break;
        run = run / box.count[inner] * shape[inner];
        box.low[inner] = 0;
        box.count[inner] = shape[inner];
    }
    Index at = box.low;
    for (;;) {
        std::int64_t begin = 0;
        for (int d = 0; d < box.nd; ++d) begin += at[d] * stride[d];
        stretches.push_back({begin, begin + run});
        int d = inner - 1;
        while (d >= 0 && ++at[d] == box.low[d] + box.count[d]) {
            at[d] = box.low[d];
            --d;
        }
        if (d < 0) return;
    }
}

/// Sorted, and those that touch joined.
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

/// Boxes by position, so that pieces in ascending order need not look at all of them.
class Sweep {
public:
    explicit Sweep(std::span<const Parcel::Entry* const> boxes) : boxes_(boxes) {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            order_.emplace_back(boxes[i]->held.first, static_cast<int>(i));
        if (!std::is_sorted(order_.begin(), order_.end())) std::sort(order_.begin(), order_.end());
    }

    /// The numbers of the boxes that may have elements of a range, in the order in which they were
    /// put. Ranges ascend.
    const std::vector<int>& met(ElementRange range) {
        const auto ended = [&](int box) { return boxes_[box]->held.last < range.begin; };
        std::erase_if(met_, ended);
        for (; next_ < order_.size() && order_[next_].first < range.end; ++next_)
            if (const int box = order_[next_].second; !ended(box)) met_.push_back(box);
        std::sort(met_.begin(), met_.end());
        return met_;
    }

private:
    std::span<const Parcel::Entry* const> boxes_;
    std::vector<std::pair<std::int64_t, int>> order_;  ///< first elements, and numbers
    std::size_t next_ = 0;
    std::vector<int> met_;
};

}  // namespace

/// What steps have written so far stays.
void Composer::begin_boxes() {
    boxed_ = true;
    storage_.begin_boxes();
    for (const Space* space : {&spaces_.fixed, &spaces_.record}) {
        for (const Place& p : space->places) {
            const std::size_t v = p.variable;
            const Variable& variable = definitions_.variables[v];
            const bool there = variable.record ? parted_[v] != 0 : filled_[v] != 0;
            if (there)
                touched_[{p.variable, variable.record ? records_ : 0}].add(0, variable.elements());
        }
    }
    // Boxes change records that are there already; steps begin where they were told to.
    records_ = std::max(records_, existing_.kept);
}

void Composer::note_written(int variable, std::int64_t record) {
    if (!boxed_) begin_boxes();
    const Variable& v = definitions_.variables[variable];
    if (!v.record || record >= records_) touched_[{variable, record}].add(0, v.elements());
}

void Composer::note_records(std::int64_t records) {
    if (!boxed_) begin_boxes();
    for (; records_ < records; ++records_)
        for (const Place& p : spaces_.record.places) touched_.erase({p.variable, records_});
}

Status Composer::write_boxes(std::span<const Parcel> parcels) {
    if (!boxed_) begin_boxes();
    // Earlier steps first.
    std::map<Group, std::vector<const Parcel::Entry*>> groups;
    for (const Parcel& p : parcels)
        for (const Parcel::Entry& e : p.entries)
            if (elements_of(e.held) > 0) groups[{e.variable, e.record, p.head.step}].push_back(&e);
    for (const auto& [group, boxes] : groups) {
        if (Status status = write_group(group, boxes); !status.ok()) return status;
        if (group.step <= step_) continue;
        auto& ahead = ahead_[group];
        for (const Parcel::Entry* e : boxes) ahead.push_back(e->held);
    }
    return {};
}

/// Boxes of one variable and record: stretches that were written before are read and written anew,
/// the others filled where no box covers them.
Status Composer::write_group(const Group& group, std::span<const Parcel::Entry* const> boxes) {
    const auto [variable, record, step] = group;
    const Variable& v = definitions_.variables[variable];
    const std::int64_t element = v.element();
    const std::int64_t shortest = std::min(shortest_write, piece_) / element;
    const std::int64_t gap = std::min(longest_gap, piece_) / element;
    std::vector<ElementRange> stretches;
    for (const Parcel::Entry* e : boxes) add_stretches(e->held.box, v.shape, shortest, stretches);
    stretches = joined(std::move(stretches));
    // Of a record that has ended everything is there, as of what was there before.
    if (v.record ? record < records_ : existing_.is)
        return write_stretches(group, stretches, false, boxes);
    Ranges& touched = touched_[{variable, record}];
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

/// Stretches of a variable, ascending: fill values or what the file has, then the boxes in their
/// order.
Status Composer::write_stretches(const Group& group, std::span<const ElementRange> stretches,
                                 bool fresh, std::span<const Parcel::Entry* const> boxes) {
    const auto [variable, record, step] = group;
    if (stretches.empty()) return {};
    const bool records = definitions_.variables[variable].record;
    const Space& space = spaces_.of(records);
    const std::size_t place = space.place_of(variable);
    const std::int64_t base = spaces_.base(records, record);
    const Share share = layout_.share(writer_, space, base);
    PieceCursor cursor(share.space(), wanted_of(share, place, stretches), piece_);
    Sweep sweep(boxes);
    entries_.assign(boxes.begin(), boxes.end());
    for (Extent piece; cursor.next(piece);) {
        buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(piece.size())));
        std::deque<Box> parts;
        const auto chunks = chunks_of(share, space, piece, buffer_.data(), base, record, parts);
        if (fresh) {
            prefill_piece(share.space(), piece, buffer_.data(), fill_,
                          [](std::size_t) { return false; });
        } else {
            for (const Chunk& chunk : chunks) {
                Status status =
                    storage_.read(chunk, buffer_.data() + (chunk.data - buffer_.data()));
                if (!status.ok()) return status;
            }
            if (!ahead_.empty()) before_.assign(buffer_.data(), buffer_.data() + piece.size());
        }
        const ElementRange range = elements_in(share.space().places[place], piece);
        if (range.begin < range.end) {
            for (const int box : sweep.met(share.reach(place, range))) {
                HeldBox held = boxes[box]->held;
                held.block = box;
                copy_parts(share, piece, place, range, {&held, 1}, buffer_.data());
            }
            if (!fresh && !boxes.empty()) keep_later(group, share, piece, range);
        }
        if (Status status = storage_.write(chunks); !status.ok()) return status;
        if (pause_ != nullptr) pause_->between_pieces();
    }
    return {};
}

/// What a rank that is ahead has written stands, though boxes of an earlier step come after it.
void Composer::keep_later(const Group& group, const Share& share, Extent piece,
                          ElementRange range) {
    const auto same = [&](const Group& other) {
        return other.variable == group.variable && other.record == group.record;
    };
    const Variable& v = definitions_.variables[group.variable];
    const std::size_t place = spaces_.of(v.record).place_of(group.variable);
    const Place& p = share.space().places[place];
    Index stride = strides_of(p.shape);
    for (std::size_t d = 0; d < p.shape.size(); ++d) stride[d] *= p.element;
    const RowKernel kernel = move_kernel(p.element);
    for (auto at = ahead_.upper_bound(group); at != ahead_.end() && same(at->first); ++at)
        for (const HeldBox& held : at->second)
            for_parts(share, place, range, {&held, 1}, [&](const HeldBox&, const Box& part) {
                const std::int64_t offset =
                    p.offset + share.position(place, part.low) * p.element - piece.begin;
                copy_box(part.nd, part.count, buffer_.data() + offset, stride,
                         before_.data() + offset, stride, kernel, nullptr);
            });
}

/// Fills what no box has touched.
Status Composer::fill_untouched(int variable, std::int64_t record) {
    const std::int64_t elements = definitions_.variables[variable].elements();
    Ranges& touched = touched_[{variable, record}];
    std::vector<ElementRange> rest;
    touched.split(0, elements, [&](std::int64_t begin, std::int64_t end, bool inside) {
        if (!inside) rest.push_back({begin, end});
    });
    touched.add(0, elements);
    return write_stretches({variable, record, step_}, rest, true, {});
}

Status Composer::end_boxes(std::int64_t records, bool mark) {
    step_ = mark ? 0 : step_ + 1;
    std::erase_if(ahead_, [&](const auto& of) { return mark || of.first.step <= step_; });
    for (; records_ < records; ++records_) {
        for (const Place& p : spaces_.record.places) {
            if (Status status = fill_untouched(p.variable, records_); !status.ok()) return status;
            touched_.erase({p.variable, records_});
        }
    }
    return {};
}

Status Composer::fill_fixed() {
    if (existing_.is) return {};
    for (const Place& p : spaces_.fixed.places)
        if (Status status = fill_untouched(p.variable, 0); !status.ok()) return status;
    return {};
}

}  // namespace thalweg::detail
