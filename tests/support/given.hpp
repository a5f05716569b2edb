// Makes boxes and decompositions for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "decomposition/decomposition.hpp"

using Numbers = std::vector<std::int64_t>;

inline thalweg::detail::Box box_of(const Numbers& low, const Numbers& count) {
    thalweg::detail::Box box;
    box.nd = static_cast<int>(low.size());
    std::copy(low.begin(), low.end(), box.low.begin());
    std::copy(count.begin(), count.end(), box.count.begin());
    return box;
}

/// Makes a decomposition without halos.
inline thalweg::detail::Decomposition given(std::vector<std::string> dims, Numbers shape,
                                            std::vector<thalweg::detail::Box> blocks = {}) {
    thalweg::detail::Decomposition d;
    d.dims = std::move(dims);
    d.shape = std::move(shape);
    d.blocks = std::move(blocks);
    d.halo_low.assign(d.shape.size(), 0);
    d.halo_high.assign(d.shape.size(), 0);
    return d;
}
