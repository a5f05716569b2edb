// Finds elements of one part in another part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "history/part.hpp"

namespace thalweg::history {

/// Calls visit(element, global indices by dimension) for the elements of a dense part.
template <class Visit>
void for_elements(const Part& part, Visit&& visit) {
    std::map<std::string, std::int64_t> at;
    std::int64_t element = 0;
    const auto along = [&](const auto& self, int d, const std::int64_t* start,
                           const std::int64_t* count) -> void {
        if (d == part.nd()) {
            visit(element++, at);
            return;
        }
        if (part.listed > 0 && d == part.first_listed) {
            for (std::int64_t index : part.indices) {
                for (int i = part.listed; i-- > 0;) {
                    at[part.dims[d + i]] = index % part.shape[d + i];
                    index /= part.shape[d + i];
                }
                self(self, d + part.listed, start, count);
            }
            return;
        }
        const std::int64_t first = part.listed > 0 ? 0 : start[d];
        const std::int64_t n = part.listed > 0 ? part.shape[d] : count[d];
        for (std::int64_t i = 0; i < n; ++i) {
            at[part.dims[d]] = first + i;
            self(self, d + 1, start, count);
        }
    };
    for (int b = 0; b < std::max(part.boxes, part.listed > 0 ? 1 : 0); ++b)
        along(along, 0, part.start.data() + b * part.nd(), part.count.data() + b * part.nd());
}

/// Tests if two parts have the same elements in the same order.
bool same_part(const Part& a, const Part& b);

/// Finds the position in the part `in` of each element of the part `of`. `of` has at least the
/// dimensions of `in`.
/// @param places  receives the positions, in the order of the elements
/// @param pick    pick by which the elements of `of` were chosen out of `in`
/// @return false: some elements are not in `in`
bool find_places(const Part& of, const Part& in, Integers& places, const Pick& pick = {});

}  // namespace thalweg::history
