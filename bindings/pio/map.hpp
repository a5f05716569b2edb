// A rank's list of degrees of freedom, in its cheapest form: boxes, a list over the fastest
// dimensions, or a list over all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nc/base/shape.hpp"

namespace thalweg::pio {

using namespace nc;

struct MapBox {
    Shape start, count;
    Index position = 0;  // place of its first element in the map
    Shape step;          // distance from one element to the next in the map, along each dimension;
                         // 0 if the box has one element along it
};

// The forms that a map can have. The ranks agree on a form that the maps of all of them can have.
struct MapForms {
    bool boxes = true;
    unsigned products = ~0U;  // bit k: the list is the same for each index of the first k
                              // dimensions
};

class Map {
public:
    // @param dofs  row-major numbers of the elements, counted from 0; -1 is a hole
    Map(Shape shape, std::vector<Index> dofs);

    const Shape& shape() const { return shape_; }
    Index size() const { return size_; }  // number of elements with holes
    Index held() const { return held_; }  // number of elements without holes
    MapForms forms() const;

    // Chooses a form, and frees the data of the other forms.
    // @param leading  number of leading dimensions that a list does not contain
    void choose(bool boxes, int leading);
    bool is_boxes() const { return is_boxes_; }
    int leading() const { return leading_; }

    const std::vector<MapBox>& boxes() const { return boxes_; }
    // Tests if the map has no holes.
    bool dense() const { return held_ == size_; }
    // Returns the steps from one box to the next, and along each dimension, if the map has holes
    // and consists of boxes.
    const Shape& steps() const { return steps_; }

    // For a map with a list, returns the indices over the dimensions that the list contains.
    const std::vector<Index>& list() const { return list_; }

    // Returns the map as the program has passed it.
    std::vector<Index> dofs() const;

private:
    Shape shape_;
    Index size_ = 0, held_ = 0;
    bool is_boxes_ = true;
    int leading_ = 0;
    std::vector<MapBox> boxes_;
    Shape steps_;
    std::vector<Index> list_;

    template <class Visit>
    void for_runs(Visit visit) const;
    void find_boxes();
    bool find_steps();
};

}  // namespace thalweg::pio
