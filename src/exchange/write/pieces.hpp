// Pieces of a space on their way into the file: their fill values and their writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "exchange/parts.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

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

/// Returns the chunks to write for a piece that lies at `from` in memory. `whole` is the space that
/// was divided into shares, and `base` its offset in the file. If a writer has a file of its own,
/// its storage translates these offsets. The boxes of the chunks are kept in `boxes`, which must
/// outlive the chunks.
std::vector<Chunk> chunks_of(const Share& share, const FileSection& whole, Extent piece,
                             const char* from, std::int64_t base, std::int64_t record,
                             std::deque<Box>& boxes);

}  // namespace thalweg::detail
