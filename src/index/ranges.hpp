// A set of whole numbers, kept as disjoint ranges.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace thalweg::detail {

class Ranges {
public:
    /// Adds [begin, end). Ranges that touch or overlap become one.
    void add(std::int64_t begin, std::int64_t end) {
        if (begin >= end) return;
        auto next = end_of_.upper_bound(begin);
        if (next != end_of_.begin() && std::prev(next)->second >= begin) {
            --next;
            begin = next->first;
        }
        while (next != end_of_.end() && next->first <= end) {
            end = std::max(end, next->second);
            next = end_of_.erase(next);
        }
        end_of_.emplace_hint(next, begin, end);
    }

    /// Divides [begin, end) where ranges of the set begin or end, and calls visit(begin, end,
    /// inside) for each part in ascending order; `inside` tells if the part is in the set.
    template <class Visit>
    void split(std::int64_t begin, std::int64_t end, Visit&& visit) const {
        auto range = end_of_.upper_bound(begin);
        if (range != end_of_.begin() && std::prev(range)->second > begin) --range;
        for (; begin < end; ++range) {
            const bool any = range != end_of_.end() && range->first < end;
            const std::int64_t from = any ? std::max(begin, range->first) : end;
            if (begin < from) visit(begin, from, false);
            begin = any ? std::min(end, range->second) : end;
            if (from < begin) visit(from, begin, true);
            if (!any) return;
        }
    }

    /// Tests if any part of [begin, end) is in the set.
    bool meets(std::int64_t begin, std::int64_t end) const {
        bool any = false;
        split(begin, end, [&](std::int64_t, std::int64_t, bool inside) { any |= inside; });
        return any;
    }

private:
    std::map<std::int64_t, std::int64_t> end_of_;  ///< end of each range, keyed by its beginning
};

}  // namespace thalweg::detail
