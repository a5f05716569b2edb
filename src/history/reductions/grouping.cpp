// SPDX-License-Identifier: Apache-2.0
#include "history/reductions/grouping.hpp"

#include <algorithm>

namespace thalweg::history {

std::vector<std::string> reduced_dims(const std::vector<std::string>& dims,
                                      const std::vector<std::string>& reduced,
                                      const std::string& region_dim) {
    std::vector<std::string> result = picked_dims(dims, {region_dim, reduced, {}});
    std::erase(result, "");
    return result;
}

bool holds_whole(const Part& part, const std::vector<std::string>& dims) {
    for (int d = 0; d < part.nd() && !part.replicated; ++d) {
        if (place_of(part.dims[d], dims) < 0) continue;
        if (part.listed > 0 && part.lists(d)) return false;
        for (int b = 0; b < part.boxes; ++b)
            if (part.count[b * part.nd() + d] != part.shape[d]) return false;
    }
    return true;
}

Part without(const Part& part, const std::vector<std::string>& dims) {
    Part result;
    result.replicated = part.replicated;
    result.boxes = part.boxes;
    result.listed = part.listed;
    result.indices = part.indices;
    for (int d = 0; d < part.nd(); ++d) {
        if (place_of(part.dims[d], dims) >= 0) continue;
        result.first_listed += part.listed > 0 && d < part.first_listed;
        result.dims.push_back(part.dims[d]);
        result.shape.push_back(part.shape[d]);
    }
    for (int b = 0; b < part.boxes; ++b)
        for (int d = 0; d < part.nd(); ++d) {
            if (place_of(part.dims[d], dims) >= 0) continue;
            result.start.push_back(part.start[b * part.nd() + d]);
            result.count.push_back(part.count[b * part.nd() + d]);
        }
    return result;
}

void sort_groups(const Integers& group, std::int64_t groups, Grouping& made) {
    // Elements without a group come first.
    const Lists lists(groups + 1, std::ssize(group), [&](auto i) { return group[i] + 1; });
    for (std::int64_t g = 1; g <= groups + 1; ++g)
        made.begin.push_back(lists.begin[g] - lists.begin[1]);
    if (!std::ranges::is_sorted(group) || lists.begin[1] > 0)
        made.order.assign(lists.items.begin() + lists.begin[1], lists.items.end());
}

}  // namespace thalweg::history
