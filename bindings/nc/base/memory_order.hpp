// The order of the elements of a program's array in memory. With a memory map, they may be
// anywhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "nc/base/shape.hpp"
#include "nc/base/types.hpp"

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

// The elements of a section in a program's array.
// @tparam Pointer  void*, or const void* to put them
template <class Pointer>
struct ArrayOf {
    int type;
    Pointer at;
    const Shape& count;
    const std::ptrdiff_t* map;  // see is_dense()
};

// Converts the elements of an array to another type, in the order of the section.
// @param fill, any_sign, order  see convert()
// @return as convert()
inline int convert_from(const ArrayOf<const void*>& array, int type, void* to,
                        const std::string& fill, bool any_sign, Order order) {
    const Index n = volume(array.count);
    const void* from = array.at;
    std::string gathered;
    if (!is_dense(array.count, array.map)) {
        const std::size_t bytes = size_of(array.type);
        gathered.resize(static_cast<std::size_t>(n) * bytes);
        const auto step = static_cast<std::ptrdiff_t>(bytes);
        for_elements(array.count, array.map, [&](std::size_t i, std::ptrdiff_t at) {
            std::memcpy(gathered.data() + i * bytes, static_cast<const char*>(array.at) + at * step,
                        bytes);
        });
        from = gathered.data();
    }
    return convert(array.type, from, type, to, n, fill, any_sign, order);
}

// Converts values of another type, in the order of the section, to the elements of an array.
// @return as convert()
inline int convert_to(const ArrayOf<void*>& array, int type, const void* from, bool any_sign) {
    const Index n = volume(array.count);
    if (is_dense(array.count, array.map))
        return convert(type, from, array.type, array.at, n, "", any_sign);
    const std::size_t bytes = size_of(array.type);
    std::string converted(static_cast<std::size_t>(n) * bytes, '\0');
    const int code = convert(type, from, array.type, converted.data(), n, "", any_sign);
    const auto step = static_cast<std::ptrdiff_t>(bytes);
    for_elements(array.count, array.map, [&](std::size_t i, std::ptrdiff_t at) {
        std::memcpy(static_cast<char*>(array.at) + at * step, converted.data() + i * bytes, bytes);
    });
    return code;
}

}  // namespace thalweg::nc
