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
    /// Checks that the tiles divide every dimension and every variable without gaps and overlaps.
    /// @return TW_OK; TW_EFORMAT, naming file and dimension
    Status check_cover() const;

    /// As if it were one file.
    const Definitions& whole() const { return whole_; }
    int size() const { return places_.size(); }
    /// What of a variable a tile has, without the record dimension.
    Box box(int variable, int tile) const;
    /// Whether the tiles are parts of a grid, in their order, and then which.
    bool find_grid(Grid& grid) const;
    /// Tiles that have the same part of a variable, which is in each of them; lists in the order of
    /// their first tiles. Each part is in one list.
    std::vector<std::vector<int>> copies(int variable) const;
    /// The first tile of each list of copies: together they have the variable once.
    std::vector<int> holders(int variable) const;

private:
    struct Place {
        std::string path;
        std::vector<std::int64_t> begin, length;  ///< of each dimension
    };
    /// The attribute that divides a dimension.
    struct Division {
        bool present = false;
        std::string attribute;
        std::int64_t first = 0;  ///< index of the whole dimension
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
    std::vector<Division> divisions_;  ///< of each dimension, as all tiles have them
    std::vector<Place> places_;
};

}  // namespace thalweg::detail
