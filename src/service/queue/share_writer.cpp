// SPDX-License-Identifier: Apache-2.0
#include "service/queue/share_writer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/trace.hpp"
#include "definitions/fill.hpp"
#include "exchange/copy_runs.hpp"
#include "exchange/delivery.hpp"
#include "exchange/dense.hpp"

namespace thalweg::detail {

namespace {

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

ShareWriter::ShareWriter(const Definitions& definitions, const Spaces& spaces, const Layout& layout,
                         int writer, Storage& storage, std::int64_t piece, BetweenPieces* pause)
    : spaces_(spaces),
      layout_(layout),
      writer_(writer),
      storage_(storage),
      piece_(piece),
      pause_(pause) {
    for (const Variable& v : definitions.variables)
        fill_.push_back(v.fill_value(storage.traits().order));
}

Status ShareWriter::write(bool records, std::int64_t record, std::span<const Work> work,
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
        buffer_.resize(std::max(buffer_.size(), bytes));
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
Status ShareWriter::read_before(std::span<const Chunk> chunks) {
    for (const Chunk& chunk : chunks)
        if (Status s = storage_.read(chunk, buffer_.data() + (chunk.data - buffer_.data()));
            !s.ok())
            return s;
    return {};
}

/// Copies into the buffer the elements of a box that lie in a range of a place.
void ShareWriter::copy(const Share& share, Extent piece, std::size_t place, ElementRange range,
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
