// SPDX-License-Identifier: Apache-2.0
#include "base/text/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace thalweg::detail {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

/// Returns the smallest number of letters to change, add, drop or swap that turn one name into the
/// other.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = last;
        last.swap(row);
    }
    return last.back();
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
    const std::string meant = lower(name);
    std::string best;
    std::size_t least = std::string::npos;
    for (const std::string& candidate : known) {
        const std::string other = lower(candidate);
        const std::size_t shorter = std::min(meant.size(), other.size());
        const std::size_t longer = std::max(meant.size(), other.size());
        const std::size_t wrong = distance(meant, other);
        const bool begins = shorter >= 2 && meant.compare(0, shorter, other, 0, shorter) == 0;
        if ((begins || wrong <= longer / 3) && wrong < least) {
            least = wrong;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
    const std::string found = nearest(name, known);
    return found.empty() ? "" : "; did you mean '" + found + "'?";
}

}  // namespace thalweg::detail
