// A rank's list of degrees of freedom, in its cheapest form: boxes, a list over the fastest
// dimensions, or a list over all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thalweg::nc {

using Index = std::int64_t;
using Shape = std::vector<Index>;

Index volume(const Shape& shape, std::size_t from = 0);

struct MapBox {
    Shape start, count;
};

// Elements that are consecutive in memory.
struct Segment {
    Index position, length;
};

// The possible forms of a map; the ranks agree on a form that all maps can have.
struct MapForms {
    bool boxes = true;
    unsigned products = ~0U;  // bit k: same list for each index of the first k dimensions
};

class Map {
public:
    // @param dofs  from 0, slowest dimension first; -1 is a hole
    Map(Shape shape, std::vector<Index> dofs);

    const Shape& shape() const { return shape_; }
    Index size() const { return size_; }  // with holes
    Index held() const { return held_; }  // without holes
    MapForms forms() const;

    // Chooses a form and drops the data of the others.
    // @param leading  dimensions that a list leaves out
    void choose(bool boxes, int leading);
    bool is_boxes() const { return is_boxes_; }
    int leading() const { return leading_; }

    const std::vector<MapBox>& boxes() const { return boxes_; }
    // As boxes: tests if the values are in the order of the boxes.
    bool dense() const { return dense_; }
    void pack(const void* values, std::size_t bytes, void* packed) const;
    void unpack(const void* packed, std::size_t bytes, void* values) const;

    // As a list: returns the indices over the dimensions after the leading ones.
    const std::vector<Index>& list() const { return list_; }

    // Returns the map as it was given.
    std::vector<Index> dofs() const;

private:
    Shape shape_;
    Index size_ = 0, held_ = 0;
    bool is_boxes_ = true, dense_ = true;
    int leading_ = 0;
    std::vector<MapBox> boxes_;
    std::vector<Segment> segments_;
    std::vector<Index> list_;

    template <class Visit>
    void for_runs(Visit visit) const;
    void find_boxes();
};

}  // namespace thalweg::nc
