// Ranges of chosen elements along each dimension, and their combinations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "history/part.hpp"

namespace thalweg::history {

/// Elements along one dimension that are adjacent in memory and among the chosen elements.
struct Range {
    std::int64_t from = 0;  ///< position in memory
    std::int64_t to = 0;    ///< index among the chosen elements
    std::int64_t count = 0;
};

/// Returns the chosen elements of [low, low + count). @param chosen  null: all
inline std::vector<Range> chosen_ranges(std::int64_t low, std::int64_t count,
                                        const Integers* chosen) {
    if (chosen == nullptr) return {{0, low, count}};
    std::vector<Range> found;
    for (std::size_t i = 0; i < chosen->size(); ++i) {
        const std::int64_t at = (*chosen)[i] - low;
        if (at < 0 || at >= count) continue;
        const auto to = static_cast<std::int64_t>(i);
        if (!found.empty() && found.back().from + found.back().count == at &&
            found.back().to + found.back().count == to)
            ++found.back().count;
        else
            found.push_back({at, to, 1});
    }
    return found;
}

/// Calls visit() for all combinations of one range of each dimension.
template <class Visit>
void combine_ranges(const std::vector<std::vector<Range>>& all, std::vector<Range>& one,
                    Visit&& visit) {
    const std::size_t d = one.size();
    if (d == all.size()) {
        visit(std::as_const(one));
        return;
    }
    for (const Range& range : all[d]) {
        one.push_back(range);
        combine_ranges(all, one, visit);
        one.pop_back();
    }
}

/// Returns the distance between neighbours along each dimension of a dense array.
inline Integers dense_steps(const Integers& count) {
    Integers step(count.size(), 1);
    for (std::size_t d = count.size(); d-- > 1;) step[d - 1] = step[d] * count[d];
    return step;
}

inline std::int64_t elements_of(const Integers& count) {
    std::int64_t n = 1;
    for (const std::int64_t c : count) n *= c;
    return n;
}

/// Returns the indices that are chosen along a dimension; null: all.
inline const Integers* chosen_along(const Choice& choice, const std::string& dim) {
    const auto found = choice.along.find(dim);
    return found == choice.along.end() ? nullptr : &found->second;
}

/// Makes one box of a whole array of chosen elements, which every rank has.
inline void choose_all(Chosen& chosen) {
    chosen.part.boxes = 1;
    chosen.part.start.assign(chosen.part.shape.size(), 0);
    chosen.part.count = chosen.part.shape;
    chosen.elements = elements_of(chosen.part.shape);
}

}  // namespace thalweg::history
