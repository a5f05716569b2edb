// The combined headers of a set of tiles: the whole file, and the place of each tile in it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

class TileSet {
public:
    /// Returns the number of files in the set to which a file belongs; 0 if it belongs to none.
    static int files(const Definitions& tile);

    /// Adds the next tile. @return TW_OK, TW_EFORMAT (the file does not belong to the set)
    Status add(const std::string& path, const Definitions& tile);
    /// Checks that the tiles divide each dimension and each variable without gaps and overlaps.
    /// @return TW_OK; TW_EFORMAT, with the file and the dimension
    Status check_cover() const;

    /// Returns the definitions of the whole data set, as if it were one file.
    const Definitions& whole() const { return whole_; }
    int size() const { return places_.size(); }
    /// Returns the box of a variable that a tile holds, without the record dimension.
    Box box(int variable, int tile) const;
    /// Tests if the tiles are the parts of a grid in row-major order.
    /// @param grid  receives the grid
    bool find_grid(Grid& grid) const;
    /// Returns lists of the tiles that hold the same part of a variable. Each part has one list;
    /// the lists are sorted by their first tile.
    std::vector<std::vector<int>> copies(int variable) const;
    /// Returns the first tile of each list of copies(). Together these tiles hold each element of
    /// the variable once.
    std::vector<int> holders(int variable) const;

private:
    struct Place {
        std::string path;
        /// For each dimension: first index and number of indices.
        std::vector<std::int64_t> begin, length;
    };
    /// An attribute that describes how a dimension is divided.
    struct Division {
        bool present = false;
        std::string attribute;
        /// Index that the attribute gives to the first element of the whole dimension.
        std::int64_t first = 0;
        bool operator==(const Division&) const = default;
    };
    Status divide(const std::string& path, const Definitions& tile, int dim, Definitions& whole,
                  Place& place, Division& division) const;
    Status compare(const std::string& path, const Definitions& whole,
                   const std::vector<Division>& divisions) const;
    Status check_places() const;
    Status check_dimension(int dim) const;
    Status check_variable(int variable) const;
    std::string undivided() const;
    bool is_grid(Grid& grid) const;

    int files_ = 0;
    Definitions whole_;
    /// Division of each dimension, which is the same in all tiles.
    std::vector<Division> divisions_;
    std::vector<Place> places_;
};

}  // namespace thalweg::detail
