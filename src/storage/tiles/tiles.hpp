// A set of files, one a tile of the horizontal domain, after the convention of FMS: NAME.0000,
// NAME.0001, ... with the attributes by which mppnccombine and `thalweg combine` join them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/grid.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// Of a dimension's own variable: first and last index of the whole and of the tile, from 1.
inline constexpr char decomposition_attribute[] = "domain_decomposition";
/// Global: how many files there are.
inline constexpr char files_attribute[] = "NumFilesInSet";

/// The name of a tile's file: at least four digits, from 0.
std::string tile_path(const std::string& path, int tile);

/// Whether there is no file of that name, but the first of a set of tiles.
bool is_tile_set(const std::string& path);

/// Where the four indices of a dimension stand: in the attribute above of the variable of its name,
/// or, where there is none, in a global attribute that ends in the dimension's name, which
/// mppnccombine does not know.
struct DecompositionPlace {
    int variable = -1;  ///< -1: global
    std::string attribute;
};
DecompositionPlace decomposition_place(const Definitions& definitions, int dim);

/// What a tile's file holds: its part of the dimensions, and the attributes.
Definitions tile_definitions(const Definitions& definitions, const Grid& grid, int tile);

/**
 * A driver that writes the shares of a grid with `own_files`, each by another driver.
 * @param inner   of this rank
 * @param tile    of this rank, -1 if it writes none
 * @param path    of the set, without number
 */
std::unique_ptr<Storage> make_tile_storage(std::unique_ptr<Storage> inner, Grid grid, int tile,
                                           std::string path);

}  // namespace thalweg::detail
