// SPDX-License-Identifier: Apache-2.0
#include "decomposition/listed.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

/// Converts the indices of a list to another order of its dimensions.
std::shared_ptr<const IndexList> reorder(const IndexList& list, const std::vector<int>& turned,
                                         const std::vector<std::int64_t>& shape, bool shared) {
    // For each dimension in the old order, its stride in the new order.
    Index stride{};
    std::vector<std::int64_t> old_shape(shape.size());
    std::int64_t n = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        stride[turned[i]] = n;
        old_shape[turned[i]] = shape[i];
        n *= shape[i];
    }
    auto result = std::make_shared<IndexList>();
    result->elements = list.elements;
    result->runs.reserve(list.elements);
    for (const Run& r : list.runs)
        for (std::int64_t i = 0; i < r.length(); ++i) {
            std::int64_t rest = r.global() + i, global = 0;
            for (std::size_t d = shape.size(); d-- > 0;) {
                global += rest % old_shape[d] * stride[d];
                rest /= old_shape[d];
            }
            result->runs.emplace_back(global, r.position() + i, 1);
        }
    // If elements may occur several times, leave runs of single elements: longer runs could
    // overlap, and could then not be found by bisection.
    if (shared)
        std::sort(result->runs.begin(), result->runs.end());
    else
        sort_runs(result->runs, shape.back());
    return result;
}

}  // namespace

std::shared_ptr<const Listing> Listed::in_order(std::span<const int> order,
                                                std::span<const std::int64_t> file_shape,
                                                bool packed) const {
    std::shared_ptr<const Listing>& made = made_[{{order.begin(), order.end()}, packed}];
    if (made) return made;
    if (packed) return made = in_order(order, file_shape)->within(whole_box(file_shape));
    auto listing = std::make_shared<Listing>();
    std::vector<int> turned;  // numbers of the listed dimensions, from 0, in the file's order
    for (std::size_t f = 0; f < order.size(); ++f) {
        if (!covers(order[f])) continue;
        listing->dims.push_back(f);
        listing->shape.push_back(file_shape[f]);
        turned.push_back(order[f] - first);
    }
    const bool same = std::is_sorted(turned.begin(), turned.end());
    listing->list = same ? list : reorder(*list, turned, listing->shape, shared);
    return made = listing;
}

}  // namespace thalweg::detail
