// SPDX-License-Identifier: Apache-2.0
#include "exchange/cover.hpp"

#include <algorithm>

namespace thalweg {

namespace {

/// Appends the parts of `box` that lie outside `hole`, which it meets.
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

HeldBox positioned(const Box& box, std::span<const std::int64_t> shape) {
    HeldBox held;
    held.box = box;
    Index last = box.low;
    for (int d = 0; d < box.nd; ++d) last[d] += box.count[d] - 1;
    held.first = linear(shape, box.low);
    held.last = linear(shape, last);
    return held;
}

}  // namespace

std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape) {
    std::vector<HeldBox> result;
    for (const HeldBox& given : boxes) {
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
        for (const Box& box : left) result.push_back(positioned(box, shape));
    }
    std::sort(result.begin(), result.end(),
              [](const HeldBox& a, const HeldBox& b) { return a.first < b.first; });
    return result;
}

}  // namespace thalweg
