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

}  // namespace

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
    stretches = joined(std::move(stretches));
    Work fresh{sections_.of(v.record).place_of(variable), {}, boxes};
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
    std::vector<char> covered(space.places.size(), 0);
    std::map<std::size_t, OverlapScan> scans;
    std::vector<Extent> wanted;
    for (const Work& w : work) {
        add_wanted(share, w.place, w.ranges, wanted);
        if (!w.boxes.empty()) scans.emplace(w.place, w.boxes);
        covered[w.place] = w.covered;
    }
    PieceCursor cursor(share.space(), intersect(share.extents(), wanted), piece_);
    for (Extent piece; cursor.next(piece);) {
        const std::size_t bytes = piece.size();
        if (bytes > buffer_.size())
            if (Status s = catch_errors([&] { buffer_.resize(bytes); }); !s.ok()) return s;
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
            for (const PlaceInPiece& in : places_in(share.space(), piece)) {
                const auto scan = scans.find(in.place);
                if (scan == scans.end()) continue;
                scan->second.for_overlapping(
                    share.reach(in.place, in.range),
                    [&](const PackedValues& e) { copy(share, piece, in.place, in.range, e); });
            }
        }
        if (Status s = storage_.write(chunks); !s.ok()) return s;
        if (pause_ != nullptr) pause_->between_pieces();
    }
    return {};
}

/// Reads the present data of a piece from the file into the buffer.
Status ShareWriter::read_before(std::span<const Chunk> chunks) {
    for (const Chunk& chunk : chunks)
        if (Status s = storage_.read(chunk, buffer_.data() + (chunk.data - buffer_.data()));
            !s.ok())
            return s;
    return {};
}

/// Copies into the buffer the elements of a box that lie in a range of a place.
void ShareWriter::copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
                       const PackedValues& box) {
    const VariableSlot& p = share.space().places[place];
    const Index to_stride = byte_strides(p);
    const RowKernel kernel = move_kernel(p.element);
    for_frames(share, place, range, {&box.held, 1}, [&](const HeldBox& h, const Box& part) {
        const Index stride = dense_strides(h, p.element);
        const char* const from = box.data + offset_in(h, part, stride);
        char* const into =
            buffer_.data() + (p.offset + share.position(place, part.low) * p.element - piece.begin);
        copy_held(h, part, {RunOrder::indices, into, to_stride},
                  {RunOrder::positions, from, stride}, kernel, nullptr);
    });
}

}  // namespace thalweg::detail
