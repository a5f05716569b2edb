// The order of the elements of a program's array in memory. With a memory map, they may be
// anywhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

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

// Copies the elements of an array to their order in the section.
inline void gather(const Shape& count, const std::ptrdiff_t* map, std::size_t bytes,
                   const void* array, char* to) {
    for_elements(count, map, [&](std::size_t i, std::ptrdiff_t at) {
        std::memcpy(to + i * bytes,
                    static_cast<const char*>(array) + at * static_cast<std::ptrdiff_t>(bytes),
                    bytes);
    });
}

// Copies elements in the order of the section to an array.
inline void scatter(const Shape& count, const std::ptrdiff_t* map, std::size_t bytes,
                    const char* from, void* array) {
    for_elements(count, map, [&](std::size_t i, std::ptrdiff_t at) {
        std::memcpy(static_cast<char*>(array) + at * static_cast<std::ptrdiff_t>(bytes),
                    from + i * bytes, bytes);
    });
}

}  // namespace thalweg::nc
