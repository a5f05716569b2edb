// Chooses the ranks that write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

/// Parses "N" or "N/node"; number 0 if the text is neither.
struct WriterCount {
    int number = 0;
    bool per_node = false;
};
WriterCount parse_writers(const std::string& text);

/// The writers that a user asks for.
struct WriterChoice {
    WriterCount count;
    bool as_possible = false;  ///< fewer are acceptable
    std::int64_t first = 0;    ///< first rank, or place in the node
    std::int64_t stride = 0;   ///< distance between writers; 0: spread evenly
};

/**
 * Returns the ranks that were asked for. Without a stride, they are spread evenly over the ranks in
 * node order, and, if they begin with rank 0, over all nodes as far as they suffice; a number
 * beyond the ranks is reduced to them. With a stride, ranks count as in the communicator, or within
 * each node.
 * @return TW_ESETTING if there are no such ranks
 */
Status pick_writers(const Topology& topology, const WriterChoice& choice, std::vector<int>& ranks);

/// Parses "MxN": M parts along the fastest dimension, N along the next one; 0 if the text is
/// another.
struct Tiles {
    int x = 0, y = 0;
};
Tiles parse_tiles(const std::string& text);

}  // namespace thalweg::detail
