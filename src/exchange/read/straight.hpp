// Reading straight: each rank reads its own elements, with no exchange. Long runs of the file are
// read as fast as equal shares of it, and are copied to the array while they are in the cache of
// the processor that has read them.
//
// Buffers: file -> buffer (file order and byte order) -> [model array]
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "exchange/read/delivery.hpp"
#include "exchange/slots.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// The elements that a rank wants of a variable (of one record).
struct Section {
    Box box;       ///< smallest box with all wanted elements; empty if there is none
    Index step{};  ///< distance from one wanted element to the next; 1 or more
};

/// Finds the wanted elements of a section that lie in a part of the variable. The resulting box
/// reaches from the first to the last wanted element, in the part's own indices; `at` is counted
/// from the section's first element. The part is row-major, of the shape `part.count`.
/// @return false if there is none
bool section_within(const Section& section, const Box& part, WantedBox& wanted);

/// Returns the number of bytes that a rank reads if it fetches its own elements of a place.
/// Unwanted elements in between are included if reading them is cheaper than skipping them.
/// @param shortest  a shorter range costs as much as this number of bytes
double section_cost(const VariableSlot& place, const WantedBox& wanted, const Index& step,
                    std::int64_t shortest);

/// Amount of data of the file that one rank, or all ranks together, want.
struct RunCounts {
    std::int64_t bytes = 0;
    std::int64_t runs = 0;  ///< runs of consecutive bytes
    /// Number of places for which reading straight is impossible: lists, and parts with a grain.
    std::int64_t against = 0;
};

/// Counts the elements that a rank wants of all places.
RunCounts count_runs(const FileSection& space, std::span<const Delivery> deliveries);

/**
 * Reads the elements that this rank wants of a place, in the order of the file.
 * @param from     source of the place
 * @param buffer   memory for the data of one read, 8 bytes or more
 * @param counts   receives the seconds in copying to the array
 * @return this rank's own failure
 */
Status read_straight(const VariableSlot& place, const PlaceSource& from, Delivery& delivery,
                     Source& source, std::span<char> buffer, StreamCounts& counts);

/// Reads the elements that this rank wants of all places. @param sources  one for each place
Status read_straight(const FileSection& space, std::span<const PlaceSource> sources,
                     std::span<Delivery> deliveries, Source& source, std::span<char> buffer,
                     StreamCounts& counts);

}  // namespace thalweg::detail
