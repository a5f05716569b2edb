// A set of files, one per tile of the horizontal domain, by the convention of FMS: NAME.0000,
// NAME.0001, ... with the attributes by which mppnccombine and `thalweg combine` join them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/grid.hpp"
#include "storage/file_sections.hpp"

namespace thalweg::detail {

/// Attribute of a dimension's coordinate variable. It contains four indices, counted from 1: the
/// first and last of the whole dimension, and those of the tile.
inline constexpr char decomposition_attribute[] = "domain_decomposition";
/// Global attribute with the number of files in the set.
inline constexpr char files_attribute[] = "NumFilesInSet";

/// Returns the path of a tile's file: the number of the tile, from 0, is added with at least four
/// digits.
std::string tile_path(const std::string& path, int tile);

/// Tests if `path` is a set of tiles: no file has this name, but the file of tile 0 exists.
bool is_tile_set(const std::string& path);

/// The attribute that holds the four indices of a dimension. It belongs to the dimension's
/// coordinate variable (decomposition_attribute). If there is no such variable, it is a global
/// attribute whose name ends in the dimension's name; mppnccombine does not know this form.
struct DecompositionPlace {
    int variable = -1;  ///< number of the variable; -1: global attribute
    std::string attribute;
};
DecompositionPlace decomposition_place(const Definitions& definitions, int dim);

/// Returns the definitions for a tile's file: dimensions with the tile's lengths, and the
/// attributes that describe the division.
Definitions tile_definitions(const Definitions& definitions, const Grid& grid, int tile);

/**
 * Makes a driver that writes each part of a grid to its own file, by another driver.
 * @param inner   driver that writes this rank's tile
 * @param tile    number of the tile that this rank writes; -1: none
 * @param path    path of the set, without the number of a tile
 */
std::unique_ptr<Storage> make_tile_storage(std::unique_ptr<Storage> inner, Grid grid, int tile,
                                           std::string path);

}  // namespace thalweg::detail
