// Pieces of a space on their way into the file: what is filled, and what is written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "exchange/parts.hpp"
#include "storage/storage.hpp"

namespace thalweg {

using FillValue = std::array<char, 8>;  ///< of a variable, in the byte order of the file

/// Puts fill values where a piece is not covered by data: padding always, elements where
/// whole(place index) is false.
template <class Whole>
void prefill_piece(const Space& space, Extent piece, char* to, std::span<const FillValue> fills,
                   Whole&& whole) {
    for (std::size_t i = space.place_at(piece.begin);
         i < space.places.size() && space.places[i].offset < piece.end; ++i) {
        const Place& p = space.places[i];
        const bool covered = whole(i);
        if (covered && p.padded == p.bytes) continue;
        const std::int64_t from = covered ? p.offset + p.bytes : p.offset;
        const std::int64_t begin = std::max(piece.begin, from);
        const std::int64_t end = std::min(piece.end, p.offset + p.padded);
        const char* fill = fills[static_cast<std::size_t>(p.variable)].data();
        for (std::int64_t b = begin; b < end; b += p.element)
            std::memcpy(to + (b - piece.begin), fill,
                        static_cast<std::size_t>(std::min(p.element, end - b)));
    }
}

/// The writes of a piece that lies at `from` in memory; `base` is the space's byte in the file.
inline std::vector<Chunk> chunks_of(const Space& space, Extent piece, const char* from,
                                    std::int64_t base, std::int64_t record) {
    std::vector<Chunk> chunks;
    for_places(space, piece, [&](std::size_t place, ElementRange range) {
        const Place& p = space.places[place];
        Chunk chunk;
        chunk.variable = p.variable;
        chunk.record = record;
        chunk.first = range.begin;
        chunk.elements = range.end - range.begin;
        const std::int64_t begin = p.offset + range.begin * p.element;
        chunk.offset = base + begin;
        chunk.data = from + (begin - piece.begin);
        chunk.bytes = std::min(piece.end, p.offset + (range.end == p.bytes / p.element
                                                          ? p.padded
                                                          : range.end * p.element)) -
                      begin;
        chunks.push_back(chunk);
    });
    return chunks;
}

}  // namespace thalweg
