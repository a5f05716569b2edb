// A set of files, one per tile of the horizontal domain, by the convention of FMS: NAME.0000,
// NAME.0001, ... with the attributes by which mppnccombine and `thalweg combine` join them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/grid.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// Attribute of a dimension's coordinate variable: first and last index of the whole and of the
/// tile, from 1.
inline constexpr char decomposition_attribute[] = "domain_decomposition";
/// Global attribute: the number of files.
inline constexpr char files_attribute[] = "NumFilesInSet";

/// Returns the name of a tile's file: at least four digits, from 0.
std::string tile_path(const std::string& path, int tile);

/// Tests if there is no file of that name, but the first of a set of tiles.
bool is_tile_set(const std::string& path);

/// The attribute with the four indices of a dimension. It is that above, of the dimension's
/// coordinate variable. If there is no such variable, it is a global attribute whose name ends in
/// the dimension's name, which mppnccombine does not know.
struct DecompositionPlace {
    int variable = -1;  ///< -1: global
    std::string attribute;
};
DecompositionPlace decomposition_place(const Definitions& definitions, int dim);

/// Returns the definitions in a tile's file: those of its part of the dimensions, and the
/// attributes.
Definitions tile_definitions(const Definitions& definitions, const Grid& grid, int tile);

/**
 * Makes a driver that writes the shares of a grid with `own_files`, each by another driver.
 * @param inner   driver of this rank
 * @param tile    number of the tile that this rank writes; -1: none
 * @param path    path of the set, without a tile's number
 */
std::unique_ptr<Storage> make_tile_storage(std::unique_ptr<Storage> inner, Grid grid, int tile,
                                           std::string path);

}  // namespace thalweg::detail
