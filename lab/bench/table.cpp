// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::bench {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
    std::string text;
    std::vector<std::size_t> width(rows[0].size(), 0);
    for (const auto& cells : rows)
        for (std::size_t c = 0; c < cells.size(); ++c)
            if (c == 0 || c + 1 < width.size()) width[c] = std::max(width[c], cells[c].size());
    for (const auto& cells : rows) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const bool left = c == 0 || c + 1 == cells.size();
            line += left ? fmt::format("{:<{}}", cells[c], width[c])
                         : fmt::format("{:>{}}", cells[c], width[c]);
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace thalweg::bench
