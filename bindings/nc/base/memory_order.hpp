// The order of the elements of a program's array in memory. With a memory map, they may be
// anywhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "nc/base/shape.hpp"

namespace thalweg::nc {

// Tests if the elements of a section are in memory in their order in the file.
// @param map  distance in elements between neighbours along each dimension; null: dense
inline bool is_dense(const Shape& count, const std::ptrdiff_t* map) {
    Index step = 1;
    for (std::size_t d = count.size(); map != nullptr && d-- > 0;) {
        if (count[d] != 1 && map[d] != step) return false;
        step *= count[d];
    }
    return true;
}

// Calls copy(position in the section, position in memory) for each element, in the order of the
// section.
template <class Copy>
void for_elements(const Shape& count, const std::ptrdiff_t* map, Copy copy) {
    const std::size_t dims = count.size();
    Shape at(dims, 0);
    std::ptrdiff_t memory = 0;
    const Index n = volume(count);
    for (Index i = 0; i < n; i++) {
        copy(static_cast<std::size_t>(i), memory);
        for (std::size_t d = dims; d-- > 0;) {
            memory += map[d];
            if (++at[d] < count[d]) break;
            memory -= map[d] * count[d];
            at[d] = 0;
        }
    }
}

}  // namespace thalweg::nc
