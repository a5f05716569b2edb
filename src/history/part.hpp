// The elements of a field that this rank holds, and those of them that a stream takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/text.hpp"
#include "definitions/definitions.hpp"
#include "thalweg/decomposition.h"

namespace thalweg::history {

using detail::joined_names;
using detail::Status;
using Integers = std::vector<std::int64_t>;

/// A rank's part of an index space: boxes, or a list of indices. Dimensions are in memory order.
struct Part {
    std::vector<std::string> dims;
    Integers shape;
    bool replicated = false;  ///< every rank has the whole space, as one box
    int boxes = 0;
    /// First index and number of indices of each box along each dimension, box after box.
    Integers start, count;
    int first_listed = 0, listed = 0;
    Integers indices;  ///< indices of the list; -1 is a hole

    int nd() const { return static_cast<int>(dims.size()); }
    /// Tests if a dimension is covered by the list.
    bool lists(int dim) const { return dim >= first_listed && dim < first_listed + listed; }
};

inline std::vector<std::string> split_dims(const char* names) {
    return detail::split_names(names == nullptr ? "" : names);
}

/// Describes this rank's part. @return TW_OK, TW_EHANDLE, TW_ENOMEM
Status part_of(tw_decomposition decomposition, Part& part);

/// Returns the part for an array that every rank has as a whole.
Part replicated_part(std::vector<std::string> dims, Integers shape);

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
    std::string dim;                ///< the new dimension
    std::vector<std::string> dims;  ///< dimensions that it replaces; empty: nothing is picked
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

/// The chosen elements of a part, and their positions in memory. They form a dense part without
/// halos and holes.
struct Chosen {
    Part part;
    std::vector<ChosenBox> pieces;
    std::int64_t elements = 0;
};

/// Chooses elements of a part.
Chosen choose(const Part& part, const Choice& choice);

/// Declares the decomposition of a part; NULL if it is replicated. @note Collective
tw_status declare(tw_session session, const Part& part, tw_decomposition* decomposition);

}  // namespace thalweg::history
