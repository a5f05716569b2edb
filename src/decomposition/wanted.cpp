// Finds the boxes that a read fills: held boxes with their halos.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

namespace {

/// A range of global indices along a dimension, and its position in memory relative to the first
/// held index.
struct Interval {
    std::int64_t low, count, at;
};

std::vector<Interval> segments_of(std::int64_t low, std::int64_t count, std::int64_t length,
                                  std::int64_t before, std::int64_t after, Edge edge) {
    if (edge == Edge::keep) return {{low, count, 0}};
    std::int64_t begin = low - before, end = low + count + after;
    if (edge == Edge::clip) {
        begin = std::max<std::int64_t>(begin, 0);
        end = std::min(end, length);
    }
    std::vector<Interval> segments;
    for (std::int64_t i = begin; i < end;) {
        const std::int64_t within = (i % length + length) % length;
        const std::int64_t n = std::min(end - i, length - within);
        segments.push_back({within, n, i - low});
        i += n;
    }
    return segments;
}

/// Sorts boxes by position. Boxes without halos are already sorted.
void sort(std::vector<WantedBox>& boxes) {
    const auto before = [](const WantedBox& a, const WantedBox& b) { return a.first < b.first; };
    if (!std::is_sorted(boxes.begin(), boxes.end(), before))
        std::stable_sort(boxes.begin(), boxes.end(), before);
}

}  // namespace

std::vector<WantedBox> wanted_boxes(const Decomposition& d, std::span<const int> order,
                                    std::span<const std::int64_t> file_shape, bool with_halo) {
    std::vector<WantedBox> result;
    const auto nd = order.size();
    for (const HeldBox& held : held_by(d, order, file_shape)) {
        if (held.list) {
            result.push_back({held, {}});
            continue;
        }
        std::vector<std::vector<Interval>> segments(nd);
        for (std::size_t f = 0; f < nd; ++f) {
            const std::size_t m = order[f];
            const Edge edge = with_halo && !d.edges.empty() ? d.edges[m] : Edge::keep;
            segments[f] = segments_of(held.box.low[f], held.box.count[f], file_shape[f],
                                      d.halo_low[m], d.halo_high[m], edge);
        }
        std::vector<std::size_t> at(nd, 0);
        for (bool more = true; more;) {
            Box box;
            Index first{};
            box.nd = held.box.nd;
            for (std::size_t f = 0; f < nd; ++f) {
                const Interval& s = segments[f][at[f]];
                box.low[f] = s.low;
                box.count[f] = s.count;
                first[f] = s.at;
            }
            result.push_back({held_box(box, file_shape), first});
            result.back().block = held.block;
            more = false;
            for (std::size_t f = nd; f-- > 0 && !more;) {
                more = ++at[f] < segments[f].size();
                if (!more) at[f] = 0;
            }
        }
    }
    sort(result);
    return result;
}

namespace {

/// Adds the elements of a list that are in a part of the variable. A list covers the full length of
/// each dimension that it does not list.
void add_listed(const WantedBox& whole, const Box& part, std::vector<WantedBox>& result) {
    const Listing& list = *whole.list;
    bool all = true;
    for (std::size_t i = 0; i < list.dims.size(); ++i)
        all &= part.count[list.dims[i]] == list.shape[i];
    std::shared_ptr<const Listing> cut = all ? whole.list : list.part(part);
    if (cut->list->runs.empty()) return;
    result.push_back({held_list(std::move(cut), std::span(part.count.data(), part.nd)), part.low});
}

}  // namespace

std::vector<WantedBox> wanted_within(std::span<const WantedBox> boxes, const Box& part) {
    const std::span shape(part.count.data(), part.nd);
    std::vector<WantedBox> result;
    for (const WantedBox& box : boxes) {
        Box common;
        if (!intersect(box.box, part, common)) continue;
        if (box.list) {
            add_listed(box, part, result);
            continue;
        }
        Index at = box.at;
        for (int d = 0; d < part.nd; ++d) {
            at[d] += common.low[d] - box.box.low[d];
            common.low[d] -= part.low[d];
        }
        result.push_back({held_box(common, shape), at});
        result.back().block = box.block;
    }
    sort(result);
    return result;
}

}  // namespace thalweg::detail
