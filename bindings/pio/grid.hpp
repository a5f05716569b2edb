// A decomposition as netCDF programs know it: lengths without names, and the elements of each rank.
// The library's decompositions have names of dimensions, so they are made when a variable first
// uses the grid.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "map.hpp"
#include "nc/base/hash.hpp"
#include "nc/base/session.hpp"

namespace thalweg::pio {

using namespace nc;

class Grid {
public:
    Grid(Session& session, Map map, Index most_held, bool whole);
    ~Grid();
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;

    Index serial() const { return serial_; }  // position among all grids that the session has made
    const Shape& shape() const { return map_.shape(); }
    const Map& map() const { return map_; }
    // Returns the largest number of elements of any rank, holes included.
    Index most_held() const { return most_held_; }

    bool whole() const { return whole_; }  // tests if the ranks together hold every element
    // Tests if boxes of several ranks overlap: decompositions for reading are then lists.
    bool overlaps() const { return overlaps_; }

    // Returns the library's decomposition, with these names of dimensions. A decomposition for
    // reading may contain elements more than once.
    // @note Collective, if used with these names for the first time
    tw_decomposition named(const std::vector<std::string>& names, bool reading);

    // Returns the decomposition of a variable that has other dimensions before those of the grid.
    // @param shape  lengths of all dimensions
    // @param index  indices along the other dimensions at which the grid lies
    // @return a decomposition that the caller frees
    // @note Collective
    tw_decomposition at(const std::vector<std::string>& names, const Shape& shape,
                        const Shape& index, bool reading);

    // Returns one grid for each index of the first dimension; used if this is the record dimension.
    // @note Collective, the first time
    const std::vector<std::shared_ptr<Grid>>& slices();

    // Returns the same grid for a shape with other lengths, but the same number of elements.
    // @note Collective, the first time for this shape
    std::shared_ptr<Grid> reshaped(const Shape& shape);

private:
    Session& session_;
    Index serial_;
    Map map_;
    Index most_held_;
    bool whole_, overlaps_ = false;
    std::map<std::pair<std::string, bool>, tw_decomposition> named_;
    std::map<Shape, std::shared_ptr<Grid>> reshaped_;
    std::vector<std::shared_ptr<Grid>> slices_;
    bool sliced_ = false;

    int declare_boxes(const std::string& names, const Shape& shape, const Shape& index,
                      tw_decomposition* made) const;
    int declare_list(const std::vector<std::string>& names, const Shape& shape, const Shape& index,
                     bool reading, tw_decomposition* made) const;
};

// A map as the program passes it.
struct GivenMap {
    const MPI_Offset* at;
    std::size_t n;
    Index first;  // number of the first element in the map; the number before it means a hole
};

// A grid that the program has described by a map on each rank. If equal maps were described before,
// it is the existing grid. The ranks compare several descriptions at once, when one is first used.
class DescribedGrid {
public:
    // @param map  map of this rank; null if its arguments are wrong
    // @param error  error in the arguments
    DescribedGrid(Session& session, const Shape& shape, const GivenMap* map, Error error);

    // Returns the number of elements in this rank's map.
    Index size() const { return size_; }
    // Throws, on all ranks alike, the error that one rank has found in its arguments.
    // @note Collective, if the ranks have not compared the description
    Grid& grid();

private:
    friend void compare_descriptions(Session& session);
    void settle(const Key& key, bool failed);

    Session& session_;
    Shape shape_;
    Key own_;  // key of this rank's map
    Index size_ = 0;
    std::vector<Index> dofs_;            // empty if `alike_` has them
    std::shared_ptr<const Grid> alike_;  // earlier grid with the same map of this rank
    std::shared_ptr<Grid> grid_;         // null until the ranks have compared the description
    Error error_;
};

// Describes a grid.
// @param now  compares the descriptions in this call, and throws the error of any rank. The same on
//   every rank
// @note Collective
std::shared_ptr<DescribedGrid> describe_grid(Session& session, const Shape& shape,
                                             const GivenMap* map, const Error& error, bool now);

// Compares the descriptions that the ranks have not compared yet.
// @note Collective
void compare_descriptions(Session& session);

}  // namespace thalweg::pio
