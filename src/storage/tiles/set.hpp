// What the headers of a set of tiles say together: the file that they are parts of, and the place
// of each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

class TileSet {
public:
    /// How many files belong to the set of which a file is one; 0: it is none.
    static int files(const Definitions& tile);

    /// Adds the next tile. @return TW_OK, TW_EFORMAT (it does not belong to the set)
    Status add(const std::string& path, const Definitions& tile);
    /// Whether every element is in a tile, those of variables that are cut both ways in one.
    Status check_cover(const std::string& path) const;

    /// As if it were one file.
    const Definitions& whole() const { return whole_; }
    int size() const { return places_.size(); }
    /// What of a variable a tile has, without the record dimension.
    Box box(int variable, int tile) const;
    /// Whether the tiles are parts of a grid, in their order, and then which.
    bool find_grid(Grid& grid) const;
    /// Tiles that together have a variable once: what is not cut is in several.
    std::vector<int> holders(int variable) const;

private:
    struct Place {
        std::vector<std::int64_t> begin, length;  ///< of each dimension
    };
    bool is_grid(Grid& grid) const;

    std::string first_;
    int files_ = 0;
    Definitions whole_;
    std::vector<Place> places_;
};

}  // namespace thalweg::detail
