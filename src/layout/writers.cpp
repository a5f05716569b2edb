// SPDX-License-Identifier: Apache-2.0
#include "layout/writers.hpp"

#include <charconv>

namespace thalweg {

WriterCount parse_writers(const std::string& text) {
    WriterCount count;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count.number);
    const std::string unit(rest, end);
    if (error != std::errc() || count.number < 1 || !(unit.empty() || unit == "/node")) return {};
    count.per_node = !unit.empty();
    return count;
}

}  // namespace thalweg
