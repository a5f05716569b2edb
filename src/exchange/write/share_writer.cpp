// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/share_writer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/trace.hpp"
#include "exchange/pack/copy_runs.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/pieces.hpp"
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

std::int64_t elements_of(std::span<const ElementRange> ranges) {
    std::int64_t elements = 0;
    for (const ElementRange& range : ranges) elements += range.end - range.begin;
    return elements;
}

/// The boxes of a variable sorted by position, so that a scan over ascending pieces examines only a
/// few of them.
class OverlapScan {
public:
    explicit OverlapScan(std::span<const PackedValues* const> boxes) : boxes_(boxes) {
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
    std::span<const PackedValues* const> boxes_;
    std::vector<std::pair<std::int64_t, int>> order_;  ///< first element and number of each box
    std::size_t next_ = 0;
    std::vector<int> near_;
};

/// The runs of a box that are contiguous in two arrays.
struct CommonRuns {
    int outer;           ///< number of dimensions in the loops over runs
    std::int64_t bytes;  ///< length of a run

    /// @param a, b  byte strides of the arrays
    CommonRuns(int nd, const Index& count, const Index& a, const Index& b, std::int64_t element)
        : outer(nd), bytes(element) {
        for (; outer > 0; --outer) {
            const int d = outer - 1;
            if (count[d] != 1 && (a[d] != bytes || b[d] != bytes)) break;
            bytes *= count[d];
        }
    }
};

}  // namespace

/// The packed values of a piece: those that are written from where they lie, and those that are
/// copied first.
class ShareWriter::Values {
public:
    /// A run in a share's space, and its values.
    struct InPlace {
        Extent extent;
        const char* data;
    };

    /// Adds the values of a box that lie in a range of a place.
    /// @param apart  no other box contains an element of this one
    void add(const Share& share, const PlaceInPiece& in, const PackedValues& box, bool apart) {
        const VariableSlot& p = share.space().places[in.place];
        const Index to = byte_strides(p);
        for_frames(
            share, in.place, in.range, {&box.held, 1}, [&](const HeldBox& h, const Box& part) {
                const Index from = dense_strides(h, p.element);
                const CommonRuns typical(part.nd, extents_of_run(h, part), to, from, p.element);
                if (!apart || typical.bytes < shortest_in_place)
                    copied_.push_back({in.place, &box, part});
                else
                    for_runs(h, part, [&](const HeldBox& run, const Box& some) {
                        const std::int64_t at =
                            p.offset + share.position(in.place, some.low) * p.element;
                        const CommonRuns runs(some.nd, some.count, to, from, p.element);
                        add_runs(runs, some.count, 0, at, to, box.data + offset_in(run, some, from),
                                 from);
                    });
            });
    }

    /// Returns the runs that are written from where they lie, in the order of the file.
    std::span<const InPlace> in_place() {
        std::ranges::sort(in_place_, {}, [](const InPlace& run) { return run.extent.begin; });
        return in_place_;
    }

    /// Copies the other values to their positions in a piece at `to`, in the order of the puts.
    void copy(const Share& share, Extent piece, char* to) const {
        for (const auto& [place, box, part] : copied_) {
            const VariableSlot& p = share.space().places[place];
            const Index from = dense_strides(box->held, p.element);
            copy_held(box->held, part,
                      {RunOrder::indices,
                       to + (p.offset + share.position(place, part.low) * p.element - piece.begin),
                       byte_strides(p)},
                      {RunOrder::positions, box->data + offset_in(box->held, part, from), from},
                      move_kernel(p.element), nullptr);
        }
    }

private:
    struct Copied {
        std::size_t place;
        const PackedValues* box;
        Box part;
    };

    void add_runs(const CommonRuns& runs, const Index& count, int d, std::int64_t at,
                  const Index& to, const char* data, const Index& from) {
        if (d == runs.outer) {
            in_place_.push_back({{at, at + runs.bytes}, data});
            return;
        }
        for (std::int64_t i = 0; i < count[d]; ++i)
            add_runs(runs, count, d + 1, at + i * to[d], to, data + i * from[d], from);
    }

    std::vector<InPlace> in_place_;
    std::vector<Copied> copied_;
};

ShareWriter::ShareWriter(const Definitions& definitions, const FileSections& sections,
                         const Layout& layout, int writer, Storage& storage, Progress& progress,
                         std::int64_t piece, BetweenPieces* pause)
    : definitions_(definitions),
      sections_(sections),
      layout_(layout),
      writer_(writer),
      storage_(storage),
      progress_(progress),
      piece_(piece),
      pause_(pause) {
    for (const Variable& v : definitions.variables)
        fill_.push_back(v.fill_value(storage.traits().order));
}

Status ShareWriter::merge(const VariableRecord& of, std::span<const PackedValues* const> boxes) {
    const auto [variable, record] = of;
    const Variable& v = definitions_.variables[variable];
    const std::int64_t element = v.element();
    const std::int64_t shortest = std::min(shortest_write, piece_) / element;
    const std::int64_t gap = std::min(longest_gap, piece_) / element;
    std::vector<ElementRange> stretches;
    bool covered = true;
    for (const PackedValues* b : boxes) {
        covered &= add_stretches(b->held.box, v.shape, shortest, stretches);
        covered &= b->held.list == nullptr && !b->within;
    }
    const std::int64_t put = elements_of(stretches);
    stretches = joined(std::move(stretches));
    Work fresh{sections_.of(v.record).place_of(variable), {}, boxes};
    fresh.apart = boxes.size() == 1 || (covered && elements_of(stretches) == put);
    Work known = fresh;
    known.covered = covered;
    if (progress_.is_complete(of)) {
        known.ranges = std::move(stretches);
        return write(v.record, record, {&known, 1}, covered);
    }
    Ranges& written = progress_.elements(of);
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
    Status status = write(v.record, record, {&fresh, 1}, true);
    return status.ok() ? write(v.record, record, {&known, 1}, covered) : status;
}

Status ShareWriter::write(bool records, std::int64_t record, std::span<const Work> work,
                          bool fresh) {
    if (std::all_of(work.begin(), work.end(), [](const Work& w) { return w.ranges.empty(); }))
        return {};
    const FileSection& space = sections_.of(records);
    const std::int64_t base = sections_.base(records, record);
    const Share share = layout_.share(writer_, space, base);
    std::vector<char> covered(space.places.size(), 0), apart = covered;
    std::map<std::size_t, OverlapScan> scans;
    std::vector<Extent> wanted;
    for (const Work& w : work) {
        add_wanted(share, w.place, w.ranges, wanted);
        if (!w.boxes.empty()) scans.emplace(w.place, w.boxes);
        covered[w.place] = w.covered;
        apart[w.place] = w.apart;
    }
    PieceCursor cursor(share.space(), intersect(share.extents(), wanted), piece_);
    for (Extent piece; cursor.next(piece);) {
        Values values;
        std::vector<Chunk> chunks;
        std::deque<Box> boxes;
        const auto add = [&](Extent part, const char* from) {
            add_chunks(share, space, part, from, base, record, boxes, chunks);
        };
        for (const PlaceInPiece& in : places_in(share.space(), piece))
            if (const auto scan = scans.find(in.place); scan != scans.end())
                scan->second.for_overlapping(
                    share.reach(in.place, in.range),
                    [&](const PackedValues& e) { values.add(share, in, e, apart[in.place] != 0); });
        // The bytes between the runs that are written from where they lie come from the buffer.
        const auto add_gap = [&](Extent gap) -> Status {
            if (gap.size() <= 0) return {};
            const std::size_t bytes = piece.size(), first = chunks.size();
            if (bytes > buffer_.size())
                if (Status s = catch_errors([&] { buffer_.resize(bytes); }); !s.ok()) return s;
            char* const to = buffer_.data() + (gap.begin - piece.begin);
            add(gap, to);
            if (fresh)
                prefill_piece(share.space(), gap, to, fill_,
                              [&](std::size_t place) { return covered[place] != 0; });
            for (std::size_t i = first; !fresh && i < chunks.size(); ++i)
                if (Status s = storage_.read(chunks[i], to + (chunks[i].data - to)); !s.ok())
                    return s;
            return {};
        };
        std::int64_t at = piece.begin;
        for (const Values::InPlace& run : values.in_place()) {
            if (Status s = add_gap({at, run.extent.begin}); !s.ok()) return s;
            add(run.extent, run.data);
            at = run.extent.end;
        }
        if (Status s = add_gap({at, piece.end}); !s.ok()) return s;
        {
            Span span("pack");
            span.record(records ? record : -1);
            values.copy(share, piece, buffer_.data());
        }
        if (Status s = storage_.write(chunks); !s.ok()) return s;
        if (pause_ != nullptr) pause_->between_pieces();
    }
    return {};
}

}  // namespace thalweg::detail
