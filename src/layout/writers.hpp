// How many ranks write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg {

/// "N" or "N/node"; number 0 if the text is neither.
struct WriterCount {
    int number = 0;
    bool per_node = false;
};
WriterCount parse_writers(const std::string& text);

/// "MxN": M parts along the fastest dimension, N along the next one; 0 if the text is another.
struct Tiles {
    int x = 0, y = 0;
};
Tiles parse_tiles(const std::string& text);

}  // namespace thalweg
