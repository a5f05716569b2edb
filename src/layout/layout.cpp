// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <algorithm>

namespace thalweg {

std::size_t Space::place_at(std::int64_t byte) const {
    const auto it =
        std::upper_bound(places.begin(), places.end(), byte,
                         [](std::int64_t b, const Place& p) { return b < p.offset + p.padded; });
    return static_cast<std::size_t>(it - places.begin());
}

std::size_t Space::place_of(int variable) const {
    std::size_t place = 0;
    while (places[place].variable != variable) ++place;
    return place;
}

std::int64_t Space::element_boundary(std::int64_t byte) const {
    const std::size_t i = place_at(byte);
    if (i == places.size() || byte <= places[i].offset) return byte;
    const Place& p = places[i];
    // Padding belongs to the last element, so that one writer completes both.
    const std::int64_t within = std::min(byte - p.offset, std::max<std::int64_t>(p.bytes - 1, 0));
    return p.offset + within / p.element * p.element;
}

std::vector<Extent> extents_of(const Space& space, const std::vector<char>& wanted) {
    std::vector<Extent> result;
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        const Place& p = space.places[i];
        if (!wanted[i] || p.padded == 0) continue;
        if (!result.empty() && result.back().end == p.offset)
            result.back().end = p.offset + p.padded;
        else
            result.push_back({p.offset, p.offset + p.padded});
    }
    return result;
}

std::vector<Extent> intersect(std::span<const Extent> a, std::span<const Extent> b) {
    std::vector<Extent> result;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const Extent common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
        if (common.begin < common.end) result.push_back(common);
        a[i].end < b[j].end ? ++i : ++j;
    }
    return result;
}

}  // namespace thalweg
