// SPDX-License-Identifier: Apache-2.0
#include "exchange/cover.hpp"

#include <algorithm>
#include <map>

#include "exchange/held_words.hpp"

namespace thalweg::detail {

namespace {

/// Appends the parts of `box` that lie outside `hole`. The two boxes overlap.
void subtract(Box box, const Box& hole, std::vector<Box>& to) {
    for (int d = 0; d < box.nd; ++d) {
        const std::int64_t before = hole.low[d] - box.low[d];
        if (before > 0) {
            Box part = box;
            part.count[d] = before;
            to.push_back(part);
        }
        const std::int64_t after = box.low[d] + box.count[d] - hole.low[d] - hole.count[d];
        if (after > 0) {
            Box part = box;
            part.low[d] = hole.low[d] + hole.count[d];
            part.count[d] = after;
            to.push_back(part);
        }
        box.low[d] = hole.low[d];
        box.count[d] = hole.count[d];
    }
}

}  // namespace

std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape) {
    std::vector<HeldBox> result;
    std::map<std::vector<int>, std::vector<std::shared_ptr<const Listing>>> lists;
    for (const HeldBox& given : boxes) {
        if (given.list) {
            lists[given.list->dims].push_back(given.list);
            continue;
        }
        std::vector<Box> left{given.box};
        for (std::size_t i = 0; i < result.size() && !left.empty(); ++i) {
            if (result[i].last < given.first || result[i].first > given.last) continue;
            std::vector<Box> rest;
            for (const Box& box : left) {
                Box common;
                if (intersect(box, result[i].box, common))
                    subtract(box, common, rest);
                else
                    rest.push_back(box);
            }
            left = std::move(rest);
        }
        for (const Box& box : left) result.push_back(held_box(box, shape));
    }
    for (const auto& [dims, same] : lists) result.push_back(held_list(unite(same), shape));
    std::sort(result.begin(), result.end(),
              [](const HeldBox& a, const HeldBox& b) { return a.first < b.first; });
    return result;
}

}  // namespace thalweg::detail
