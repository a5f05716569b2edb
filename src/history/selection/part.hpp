// The elements of a field that this rank holds, and those of them that a stream takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/text/text.hpp"
#include "definitions/definitions.hpp"
#include "index/box.hpp"
#include "thalweg/decomposition.h"

namespace thalweg::history {

using detail::failure;
using detail::joined_names;
using detail::Status;
using detail::volume;
using Integers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// Lists of items: those of list i are `items` from begin[i] to begin[i + 1], in their order.
struct Lists {
    Integers begin, items;
    /// @param list  returns the list of an item
    template <class List>
    Lists(std::int64_t lists, std::int64_t count, const List& list)
        : begin(lists + 2), items(count) {
        for (std::int64_t i = 0; i < count; ++i) ++begin[list(i) + 2];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        for (std::int64_t i = 0; i < count; ++i) items[begin[list(i) + 1]++] = i;
        begin.pop_back();
    }
};

/// A rank's part of an index space: boxes, or a list of indices. Dimensions are in memory order.
struct Part {
    Names dims;
    Integers shape;
    bool replicated = false;  ///< every rank has the whole space, as one box
    int boxes = 0;
    /// First index and number of indices of each box along each dimension, box after box.
    Integers start, count;
    int first_listed = 0, listed = 0;
    Integers indices;  ///< indices of the list; -1 is a hole

    friend bool operator==(const Part&, const Part&) = default;
    int nd() const { return static_cast<int>(dims.size()); }
    bool lists(int dim) const { return dim >= first_listed && dim < first_listed + listed; }
};

inline Names split_dims(const char* names) {
    return detail::split_names(names == nullptr ? "" : names);
}

/// @return TW_OK, TW_EHANDLE, TW_ENOMEM
Status part_of(tw_decomposition decomposition, Part& part);

Part replicated_part(Names dims, Integers shape);

/// Declares the decomposition of a part; NULL if it is replicated. @note Collective
tw_status declare(tw_session session, const Part& part, tw_decomposition* decomposition);

/// @return -1 if a dimension is not among others
int place_of(const std::string& dim, const Names& dims);
bool is_subset(const Names& some, const Names& all);
Integers lengths_of(const Names& some, const Names& dims, const Integers& shape);
/// Returns the distance between neighbours along each dimension of a dense array.
/// @param size  distance along the last dimension
Integers dense_steps(const Integers& count, std::int64_t size = 1);
/// Returns the distances along dimensions in a dense array with the dimensions `of`, or 0.
Integers steps_along(const Names& dims, const Names& of, const Integers& shape);
std::int64_t dot(const Integers& at, const Integers& steps);

/// Replaces a dimension by one of another length, of which every box has all.
/// @return false if a box does not have all of the dimension, or a list covers it
bool replace_dim(Part& part, const std::string& dim, const std::string& name, std::int64_t length);

/// Calls visit(element, global indices) for the elements of a dense part.
void for_elements(const Part& part,
                  const std::function<void(std::int64_t, const Integers&)>& visit);

/// A box of chosen elements in memory, and its position in the dense array of all chosen elements.
struct ChosenBox {
    /// Number of the box in the part; 0 for a list, whose listed dimensions are one in memory.
    int box = 0;
    Integers start;  ///< first element, relative to the first held element of that box
    Integers count;
    std::int64_t to = 0;  ///< position of the first element in the dense array
    Integers step;        ///< distances in the dense array along each dimension
};

/// Elements that are picked along some dimensions. In the result, one dimension replaces these. An
/// element may be picked twice.
struct Pick {
    std::string dim;  ///< the new dimension
    Names dims;       ///< dimensions that it replaces; empty: nothing is picked
    /// Global indices of each element along the replaced dimensions, element after element.
    Integers at;

    std::int64_t size() const { return dims.empty() ? 0 : std::ssize(at) / std::ssize(dims); }
    friend bool operator==(const Pick&, const Pick&) = default;
};

/// The global indices that are chosen along some dimensions, by name. Along other dimensions, all
/// are chosen. Chosen indices are numbered anew in this order.
struct Choice {
    std::map<std::string, Integers> along;
    Pick pick;
    friend bool operator==(const Choice&, const Choice&) = default;
};

/// The chosen elements of a part, as a dense part, and their positions in memory.
struct Chosen {
    Part part;
    std::vector<ChosenBox> pieces;
    std::int64_t elements = 0;
};

/// @return those of the chosen elements that this rank holds
Chosen choose(const Part& part, const Choice& choice);

Pick restricted(const Pick& pick, const Names& dims);
/// Returns the dimensions with the new one in the position of the first dimension that it replaces.
Names picked_dims(const Names& dims, const Pick& pick);

/// A choice of elements of fields with one decomposition. All ranks make them in the same order.
struct Taken : Chosen {
    int serial = 0;  ///< serial number of the fields' decomposition
    Names dims;
    Integers shape;
    Choice choice;
    tw_decomposition target = nullptr, restart = nullptr;
};

/// Finds the position in the part `in` of each element of the part `of`. `of` has at least the
/// dimensions of `in`.
/// @param places  receives the positions, in the order of the elements
/// @param pick    pick by which the elements of `of` were chosen out of `in`
/// @return false: some elements are not in `in`
bool find_places(const Part& of, const Part& in, Integers& places, const Pick& pick = {});

}  // namespace thalweg::history
