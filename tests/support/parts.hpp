// Random decompositions, by which each rank holds a part of an array: into boxes, with halos and
// padding, or into lists of indices; and the arrays that ranks pass to the library and get back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace parts {

struct Box {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
};

struct Decomposition {
    std::vector<int> dims;                // numbers of the dimensions, in memory order
    std::vector<std::int64_t> shape;      // their lengths
    std::vector<std::vector<Box>> boxes;  // boxes of each rank
    // Lists of indices in `listed` dimensions from the one with number `first` on, for each rank;
    // -1 is a hole. Each other index is a box. If listed is 0, there are no lists.
    std::size_t first = 0, listed = 0;
    std::vector<std::vector<std::int64_t>> lists;
    bool shared = false;   // several ranks have an index, so this is only for reading
    bool unnamed = false;  // the dimensions are told by their positions
    bool with_halo = false;
    std::vector<std::vector<std::int64_t>> low, high;  // halo on each rank
    std::vector<std::int64_t> padded;                  // extents that all boxes share; may be empty
    // Number of boxes for which each rank's arrays have memory.
    std::vector<std::int64_t> room;
};

std::int64_t volume(const Box& box);

enum class Cover {
    some,    // some elements may be held by no rank
    all,     // each element is held by one rank
    shared,  // lists of which ranks share some indices
};

/// Makes a decomposition of some dimensions in any memory order. It is the same on all ranks.
/// @param lengths  lengths of the dimensions, by their numbers
Decomposition make_decomposition(Random& random, std::vector<int> dims,
                                 const std::vector<std::int64_t>& lengths, int ranks,
                                 Cover cover = Cover::some);

/// Returns the form of an array that each rank holds completely.
Decomposition whole(const std::vector<int>& dims, const std::vector<std::int64_t>& lengths,
                    int ranks);

/// Declares a decomposition. @param names  names of the dimensions, by their numbers
tw_status declare(tw_session session, const std::vector<std::string>& names, const Decomposition& x,
                  int rank, tw_decomposition* made);

/// Reorders an index of a decomposition for a variable over `dims`.
std::vector<std::int64_t> in_order(const Decomposition& x, const std::vector<int>& dims,
                                   const std::vector<std::int64_t>& index);

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

/// The array of one rank, filled with random bytes, and the positions of its boxes' elements.
struct Array {
    std::vector<char> bytes;
    std::int64_t n = 0;                // number of elements of a dense array
    std::int64_t first = 0;            // offset of the first element of a strided array
    std::vector<std::int64_t> extent;  // lengths of a strided array
    std::vector<std::int64_t> stride;
    bool strided = false;

    std::vector<Box> boxes;                          // global indices, in memory order
    std::vector<std::int64_t> base;                  // offset of each box's first own element
    std::vector<std::vector<std::int64_t>> strides;  // strides of each box, in bytes
    std::vector<std::int64_t> low, high;             // halos that have memory

    tw_array handle(tw_type type) {
        return strided ? tw_strided(type, bytes.data() + first, static_cast<int>(extent.size()),
                                    extent.data(), stride.data())
                       : tw_dense(type, bytes.data(), n);
    }

    /// Calls visit(address, global index) for each element of the boxes.
    template <class Visit>
    void for_each_element(Visit&& visit) {
        for_each_filled({}, {}, [&](char* at, const auto& global, bool) { visit(at, global); });
    }

    /// Calls visit(address, global index, true if it is no element of a halo) for each element that
    /// a read fills, if halos have these edges; none: halos are not filled.
    template <class Visit>
    void for_each_filled(const std::vector<tw_edge>& edges, const std::vector<std::int64_t>& shape,
                         Visit&& visit) {
        for (std::size_t b = 0; b < boxes.size(); ++b) {
            if (volume(boxes[b]) == 0) continue;
            const std::size_t nd = boxes[b].count.size();
            std::vector<std::int64_t> global(nd), count = boxes[b].count;
            const bool halo = !edges.empty() && !low.empty();
            for (std::size_t d = 0; d < nd && halo; ++d) count[d] += low[d] + high[d];
            for_each_index(count, [&](const std::vector<std::int64_t>& index) {
                std::int64_t at = base[b];
                bool own = true;
                for (std::size_t d = 0; d < nd; ++d) {
                    const std::int64_t inside = index[d] - (halo ? low[d] : 0);
                    at += inside * strides[b][d];
                    global[d] = boxes[b].start[d] + inside;
                    if (inside >= 0 && inside < boxes[b].count[d]) continue;
                    own = false;
                    const bool outside = global[d] < 0 || global[d] >= shape[d];
                    if (edges[d] == TW_HALO_KEEP || (edges[d] == TW_HALO_CLIP && outside)) return;
                    global[d] = (global[d] % shape[d] + shape[d]) % shape[d];
                }
                visit(bytes.data() + at, global, own);
            });
        }
    }
};

void make_junk(std::vector<char>& bytes, std::uint64_t seed);

/// Makes an array for a rank's part. `with_halo`, which is the same on every rank, applies to
/// strided arrays. `size` is the size of an element in bytes.
Array place_array(const Decomposition& x, int rank, bool strided, bool with_halo, std::int64_t size,
                  Random& random);

}  // namespace parts
