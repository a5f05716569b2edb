// Reading straight: each rank reads what it wants itself, with no exchange. Where that is in long
// runs of the file, it is read as fast as long ranges of equal shares are, and what was read goes
// from the cache of the processor that read it to the array.
//
// Buffers: file -> buffer (file order and byte order) -> kernel -> [model array]
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "exchange/delivery.hpp"
#include "exchange/slots.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

/// What one rank, or all together, want of the file.
struct RunCounts {
    std::int64_t bytes = 0;
    std::int64_t runs = 0;     ///< of consecutive bytes
    std::int64_t against = 0;  ///< places that must not be read so: lists, and parts with a grain
};

/// Counts what a rank wants of all places.
RunCounts count_runs(const Space& space, std::span<const Delivery> deliveries);

/**
 * Reads what this rank wants, in the order of the file.
 * @param sources  of each place
 * @param buffer   of 8 bytes or more; what is read at a time
 * @param counts   gets the seconds in copying to the arrays
 * @return this rank's own failure
 */
Status read_straight(const Space& space, std::span<const PlaceSource> sources,
                     std::span<Delivery> deliveries, Source& source, std::span<char> buffer,
                     StreamCounts& counts);

}  // namespace thalweg::detail
