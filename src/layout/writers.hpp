// How many ranks write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

/// "N" or "N/node"; number 0 if the text is neither.
struct WriterCount {
    int number = 0;
    bool per_node = false;
};
WriterCount parse_writers(const std::string& text);

/// Which ranks write.
struct WriterWish {
    WriterCount count;
    bool as_possible = false;  ///< fewer are as good
    std::int64_t first = 0;    ///< rank, or place in the node
    std::int64_t stride = 0;   ///< from one to the next; 0: spread evenly over those from the first
};

/**
 * The ranks of a wish. Without a stride they are spread evenly over the ranks in node order, and
 * from rank 0 on every node takes part as far as there are enough; more than there are become as
 * many as there are. With one, ranks count as they are in the communicator, or in each node.
 * @return TW_ESETTING if there are no such ranks
 */
Status pick_writers(const Topology& topology, const WriterWish& wish, std::vector<int>& ranks);

/// "MxN": M parts along the fastest dimension, N along the next one; 0 if the text is another.
struct Tiles {
    int x = 0, y = 0;
};
Tiles parse_tiles(const std::string& text);

}  // namespace thalweg::detail
