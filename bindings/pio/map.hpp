// A rank's list of degrees of freedom, in the cheapest form that says the same: boxes, a list over
// the fastest dimensions, or a list over all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thalweg::pio {

using Index = std::int64_t;
using Shape = std::vector<Index>;

Index volume(const Shape& shape, std::size_t from = 0);

struct MapBox {
    Shape start, count;
};

// Elements that follow one another in memory.
struct Segment {
    Index position, length;
};

// What can be said of a map; the ranks agree on what is true of all.
struct MapForms {
    bool boxes = true;
    unsigned products = ~0U;  // bit k: the same list for each index of the first k dimensions
};

class Map {
public:
    // dofs count from 0, slowest dimension first; -1 is a hole.
    Map(Shape shape, std::vector<Index> dofs);

    const Shape& shape() const { return shape_; }
    Index size() const { return size_; }  // holes included
    Index held() const { return held_; }  // without
    MapForms forms() const;

    // Drops what the form does not need. leading: dimensions that a list leaves out.
    void choose(bool boxes, int leading);
    bool is_boxes() const { return is_boxes_; }
    int leading() const { return leading_; }

    const std::vector<MapBox>& boxes() const { return boxes_; }
    // As boxes: the values follow one another in the order of the boxes.
    bool dense() const { return dense_; }
    void pack(const void* values, std::size_t bytes, void* packed) const;
    void unpack(const void* packed, std::size_t bytes, void* values) const;

    // As a list: over the dimensions after the leading ones.
    const std::vector<Index>& list() const { return list_; }

    // The map again, as it was given.
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

}  // namespace thalweg::pio
