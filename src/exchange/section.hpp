// Sections of variables: boxes of which every so-many-th element is wanted along each dimension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "exchange/delivery.hpp"
#include "exchange/slots.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// What a rank wants of a variable (of one record).
struct Section {
    Box box;       ///< from the first wanted element to the last one; without any, empty
    Index step{};  ///< from one wanted element to the next; 1 or more
};

/// What of a section lies in a part of the variable: from the first wanted element in it to the
/// last one, in the part's own indices; `at` is counted from the section's first element. The part
/// is row-major, of the shape `part.count`.
/// @return whether there is any
bool section_within(const Section& section, const Box& part, WantedBox& wanted);

/// Bytes that a rank reads to get what it wants of a place by itself: those between wanted
/// elements, too, where it is cheaper to read than to skip them.
/// @param shortest  bytes that a range counts for at least
double section_cost(const Place& place, const WantedBox& wanted, const Index& step,
                    std::int64_t shortest);

/**
 * Reads what this rank wants of a place by itself, in the order of the file.
 * @param from     of the place
 * @param buffer   of 8 bytes or more; what is read at a time
 * @param counts   gets the seconds in copying to the array
 * @return this rank's own failure
 */
Status read_section(const Place& place, const PlaceSource& from, Delivery& delivery, Source& source,
                    std::span<char> buffer, StreamCounts& counts);

}  // namespace thalweg::detail
