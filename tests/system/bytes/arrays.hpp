// The arrays that ranks pass to the library and get back: places and values of elements.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_ARRAYS_HPP
#define THALWEG_TESTS_SYSTEM_ARRAYS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "case.hpp"
#include "system/random.hpp"

// Calls visit(index) for each index of a box with the given lengths. The last dimension is fastest.
template <class Visit>
void for_each_index(const std::vector<std::int64_t>& count, Visit&& visit) {
    for (const std::int64_t n : count)
        if (n <= 0) return;
    std::vector<std::int64_t> index(count.size(), 0);
    while (true) {
        visit(index);
        std::size_t d = count.size();
        while (d > 0) {
            --d;
            if (++index[d] < count[d]) break;
            index[d] = 0;
            if (d == 0) return;
        }
        if (count.empty()) return;
    }
}

// Makes the values of elements by a hash of the element's global index in the dimensions of the
// case. The hash does not depend on the rank and the order.
struct Hasher {
    std::uint64_t base;
    explicit Hasher(const Case& c, std::size_t file, const Put& put, int step)
        : base(mix(mix(c.seed, file * 1000 + static_cast<std::uint64_t>(put.var)),
                   static_cast<std::uint64_t>(step) * 4096 + put.salt)) {}
    std::uint64_t operator()(const std::vector<int>& dims,
                             const std::vector<std::int64_t>& index) const {
        std::array<std::uint64_t, 4> global{};
        for (std::size_t d = 0; d < dims.size(); ++d)
            global[static_cast<std::size_t>(dims[d])] = static_cast<std::uint64_t>(index[d]);
        return mix(base ^ (global[0] + (global[1] << 16) + (global[2] << 32) + (global[3] << 48)));
    }
};

/// The array of one rank, filled with random bytes, and the positions of its boxes' elements.
struct Array {
    std::vector<char> bytes;
    std::int64_t n = 0;                // number of elements of a dense array
    std::int64_t first = 0;            // offset of the first element of a strided array
    std::vector<std::int64_t> extent;  // lengths; empty for a dense array
    std::vector<std::int64_t> stride;
    bool strided = false;

    std::vector<Box> boxes;                          // global indices, in memory order
    std::vector<std::int64_t> base;                  // offset of each box's first own element
    std::vector<std::vector<std::int64_t>> strides;  // strides of each box, in bytes

    /// Calls visit(address, global index) for each element of the boxes.
    template <class Visit>
    void for_each_element(Visit&& visit) {
        for (std::size_t b = 0; b < boxes.size(); ++b) {
            std::vector<std::int64_t> global(boxes[b].start.size());
            for_each_index(boxes[b].count, [&](const std::vector<std::int64_t>& index) {
                std::int64_t at = base[b];
                for (std::size_t d = 0; d < index.size(); ++d) {
                    at += index[d] * strides[b][d];
                    global[d] = boxes[b].start[d] + index[d];
                }
                visit(bytes.data() + at, global);
            });
        }
    }
};

void make_junk(std::vector<char>& bytes, std::uint64_t seed);

/// Makes an array for a rank's part of a decomposition, or for a whole variable over the given
/// dimensions (decomposition -1). `with_halo`, which is the same on every rank, applies to strided
/// arrays. `size` is the size of an element in bytes.
Array place_array(const Case& c, int decomposition, const std::vector<int>& dims, int rank,
                  bool strided, bool with_halo, std::int64_t size, Random& random);

/// Makes the array of a put, with its values.
Array make_array(const Case& c, std::size_t file, int step, const Put& put, int rank,
                 Random& random);

#endif
