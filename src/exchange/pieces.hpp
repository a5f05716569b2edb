// The pieces of a section of the file, computed without MPI: the elements of a rank's boxes in
// them, their fill values, and their writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// The action of a write on a place of a space; passes do not merge.
enum class Action : char { skip, data, fill, merge };

/// Returns the range of a place's elements that a piece contains.
inline ElementRange elements_in(const VariableSlot& place, Extent piece) {
    const std::int64_t n = place.bytes / place.element;
    const std::int64_t begin = std::max<std::int64_t>(0, piece.begin - place.offset);
    const std::int64_t end = std::max<std::int64_t>(0, piece.end - place.offset);
    return {std::min(n, (begin + place.element - 1) / place.element),
            std::min(n, (end + place.element - 1) / place.element)};
}

/// A place of which a piece contains a range of elements.
struct PlaceInPiece {
    std::size_t place;
    ElementRange range;
};

/// Returns the places of which a piece contains elements, in order.
inline std::vector<PlaceInPiece> places_in(const FileSection& space, Extent piece) {
    std::vector<PlaceInPiece> found;
    for (std::size_t i = space.place_at(piece.begin);
         i < space.places.size() && space.places[i].offset < piece.end; ++i) {
        const ElementRange range = elements_in(space.places[i], piece);
        if (range.begin < range.end) found.push_back({i, range});
    }
    return found;
}

/// Calls visit(held box, common box) for the boxes of `held` (sorted, see held_by) that overlap a
/// row-major range. Of a list, the box around all its elements is used. The order of the calls
/// depends only on the values of the arguments.
template <class List = std::span<const HeldBox>, class Visit>
void for_frames(std::span<const std::int64_t> shape, ElementRange range, const List& held,
                Visit&& visit) {
    const auto end = std::partition_point(held.begin(), held.end(),
                                          [&](const auto& h) { return h.first < range.end; });
    for (auto h = held.begin(); h != end; ++h) {
        if (h->last < range.begin) continue;
        for_boxes_of_range(shape, range.begin, range.end, [&](const Box& box) {
            Box common;
            if (intersect(box, h->box, common)) visit(*h, common);
        });
    }
}

/// Calls visit(held box, common box) for the boxes of `held` that overlap a range of elements of a
/// writer's share. `held` and the visited boxes use the indices of the place.
template <class Visit>
void for_frames(const Share& share, std::size_t place, ElementRange range,
                std::span<const HeldBox> held, Visit&& visit) {
    const ElementRange reach = share.reach(place, range);
    const auto end = std::partition_point(held.begin(), held.end(),
                                          [&](const HeldBox& h) { return h.first < reach.end; });
    for (auto h = held.begin(); h != end; ++h) {
        if (h->last < reach.begin) continue;
        for_boxes_of_range(share.space().places[place].shape, range.begin, range.end,
                           [&](const Box& box) {
                               Box common;
                               if (intersect(share.placed(place, box), h->box, common))
                                   visit(*h, common);
                           });
    }
}

/// Calls visit(held box, part) for the held elements of a smaller box: once for a box, or for each
/// run of a list as if it were a held box.
template <class Held, class Visit>
void for_runs(const Held& held, const Box& common, Visit&& visit) {
    if (!held.list) {
        visit(held, common);
        return;
    }
    Held run = held;
    held.list->for_runs(common, [&](const Box& part, std::int64_t position, const Run&) {
        for (const int d : held.list->dims) {
            run.box.low[d] = part.low[d];
            run.box.count[d] = part.count[d];
        }
        run.position = position;
        visit(std::as_const(run), part);
    });
}

/// Calls visit(held box, part) for all held elements of a range, like for_frames, but with lists
/// taken apart into runs. The order of the calls depends only on the values of the arguments:
/// sender and receiver rely on it.
template <class List = std::span<const HeldBox>, class Visit>
void for_parts(std::span<const std::int64_t> shape, ElementRange range, const List& held,
               Visit&& visit) {
    for_frames(shape, range, held,
               [&](const auto& h, const Box& common) { for_runs(h, common, visit); });
}

/// Tests if a held box has elements in a smaller box.
inline bool has_any(const HeldBox& held, const Box& common) {
    return !held.list || held.list->meets(common);
}

/// A cursor that cuts extents into pieces of about `piece` bytes, at element boundaries.
class PieceCursor {
public:
    PieceCursor() = default;
    PieceCursor(const FileSection& space, std::vector<Extent> extents, std::int64_t piece)
        : space_(&space), extents_(std::move(extents)), piece_(piece) {}

    /// Moves to the beginning.
    void rewind() {
        at_ = 0;
        inside_ = step_ = 0;
    }

    /// Finds the next piece. @return false at the end
    bool next(Extent& out) {
        while (at_ < extents_.size()) {
            const Extent& e = extents_[at_];
            const std::int64_t begin = e.begin + inside_;
            if (begin >= e.end) {
                ++at_;
                inside_ = step_ = 0;
                continue;
            }
            const std::int64_t target = e.begin + ++step_ * piece_;
            out = {begin, target >= e.end ? e.end : space_->element_boundary(target)};
            inside_ = out.end - e.begin;
            if (out.begin < out.end) return true;
        }
        return false;
    }

private:
    const FileSection* space_ = nullptr;
    std::vector<Extent> extents_;
    std::int64_t piece_ = 1;
    std::size_t at_ = 0;
    std::int64_t inside_ = 0, step_ = 0;
};

/// Repeats an element over n bytes. Elements that are already written are copied, in blocks that
/// stay in cache.
inline void repeat(char* to, std::int64_t n, const char* element, std::int64_t size) {
    if (n <= 0) return;
    constexpr std::int64_t block = 4096;  // a multiple of the size of every element type
    std::int64_t done = std::min(size, n);
    std::memcpy(to, element, done);
    while (done < n) {
        const std::int64_t step = std::min({done, block, n - done});
        std::memcpy(to + done, to, step);
        done += step;
    }
}

/// Writes fill values to the padding in a piece, and to elements of the places for which
/// whole(place index) is false.
template <class Whole>
void prefill_piece(const FileSection& space, Extent piece, char* to,
                   std::span<const FillValue> fills, Whole&& whole) {
    for (std::size_t i = space.place_at(piece.begin);
         i < space.places.size() && space.places[i].offset < piece.end; ++i) {
        const VariableSlot& p = space.places[i];
        const bool covered = whole(i);
        if (covered && p.padded == p.bytes) continue;
        const std::int64_t from = covered ? p.offset + p.bytes : p.offset;
        const std::int64_t begin = std::max(piece.begin, from);
        const std::int64_t end = std::min(piece.end, p.offset + p.padded);
        const char* fill = fills[p.variable].data();
        if (begin < end) repeat(to + (begin - piece.begin), end - begin, fill, p.element);
    }
}

/// Adds the extents of a share's space that hold the elements of a place in the given ascending
/// ranges. With the last element, the padding after it is included. Adjacent extents are joined.
inline void add_wanted(const Share& share, std::size_t place, std::span<const ElementRange> ranges,
                       std::vector<Extent>& wanted) {
    const VariableSlot& p = share.space().places[place];
    for (const ElementRange& range : ranges) {
        const ElementRange own = share.within(place, range);
        if (own.begin >= own.end) continue;
        const bool last = own.end == p.bytes / p.element;
        const Extent extent{p.offset + own.begin * p.element,
                            p.offset + (last ? p.padded : own.end * p.element)};
        if (!wanted.empty() && wanted.back().end == extent.begin)
            wanted.back().end = extent.end;
        else
            wanted.push_back(extent);
    }
}

/// Adds the chunks to write for a part of a piece, whose bytes lie at `from` in memory. `whole` is
/// the space that was divided into shares, and `base` its offset in the file. If a writer has a
/// file of its own, its storage translates these offsets. The boxes of the chunks are kept in
/// `boxes`, which must outlive the chunks.
void add_chunks(const Share& share, const FileSection& whole, Extent part, const char* from,
                std::int64_t base, std::int64_t record, std::deque<Box>& boxes,
                std::vector<Chunk>& chunks);

}  // namespace thalweg::detail
