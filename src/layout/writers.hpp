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

}  // namespace thalweg
