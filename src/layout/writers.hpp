// Chooses the ranks that write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

/// Numbers in a text of the form "N" or "N/node", optionally followed by ":FIRST" or
/// ":FIRST:STRIDE". `number` is 0 if the text has another form.
struct WriterCount {
    int number = 0;
    bool per_node = false;
    int first = 0;   ///< first rank in the communicator, or on each node
    int stride = 0;  ///< distance between writers in ranks; 0: spread evenly
};
WriterCount parse_writers(const std::string& text);

/**
 * Picks the writers that the setting asks for. Without a stride they are spread evenly over the
 * ranks in node order; if the first one is rank 0, each node gets one writer if there are enough. A
 * number larger than the number of ranks is reduced. With a stride, ranks are counted in the
 * communicator or within each node.
 * @param as_possible  return fewer writers if there are not enough ranks
 * @return TW_ESETTING if the ranks do not exist
 */
Status pick_writers(const Topology& topology, const WriterCount& asked, bool as_possible,
                    std::vector<int>& ranks);

/// Numbers in a text of the form "MxN": M parts along the fastest dimension, N along the next one.
/// Both are 0 if the text has another form.
struct Tiles {
    int x = 0, y = 0;
};
Tiles parse_tiles(const std::string& text);

}  // namespace thalweg::detail
