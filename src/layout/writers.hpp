// Chooses the ranks that write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

/// The result of parsing "N" or "N/node", with ":FIRST" or ":FIRST:STRIDE" or without; `number` is
/// 0 if the text is something else.
struct WriterCount {
    int number = 0;
    bool per_node = false;
    int first = 0;   ///< first rank, or its place in the node
    int stride = 0;  ///< distance between writers; 0: spread evenly
};
WriterCount parse_writers(const std::string& text);

/**
 * Returns the ranks that were asked for. Without a stride, they are spread evenly over the ranks in
 * node order, and, if they begin with rank 0, over all nodes as far as they suffice; a number that
 * exceeds the ranks is reduced. With a stride, ranks are counted in the communicator, or within
 * each node.
 * @param as_possible  fewer writers are acceptable
 * @return TW_ESETTING if there are no such ranks
 */
Status pick_writers(const Topology& topology, const WriterCount& asked, bool as_possible,
                    std::vector<int>& ranks);

/// The result of parsing "MxN": M parts along the fastest dimension, N along the next one; 0 if the
/// text is something else.
struct Tiles {
    int x = 0, y = 0;
};
Tiles parse_tiles(const std::string& text);

}  // namespace thalweg::detail
