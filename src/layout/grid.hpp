// A layout that cuts the horizontal domain along process rows, process columns, or both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "layout/layout.hpp"

namespace thalweg::detail {

/// A dimension, and the positions at which it is cut.
struct Cut {
    int dim = -1;                     ///< number of the dimension in the file's definitions
    std::vector<std::int64_t> begin;  ///< first index of each part, ascending; parts may be empty
};

/// Cuts that divide the horizontal domain into rows x columns parts. A file may have several pairs
/// of horizontal dimensions (staggered grids); each is cut into the same number of parts.
struct Grid {
    int rows = 1, columns = 1;
    std::vector<Cut> y, x;
    bool own_files = false;  ///< each part is a separate file

    int parts() const { return rows * columns; }
};

/// Divides a dimension into parts. Cuts are at positions where a rank's block begins, so that each
/// part has about the same number of blocks. If there are fewer positions than parts, all parts
/// have about the same length.
/// @param starts  positions where blocks begin, ascending, the first one 0
std::vector<std::int64_t> cut_dimension(std::span<const std::int64_t> starts, std::int64_t length,
                                        int parts);

/// Makes a layout in which each writer owns one part of the horizontal domain, of every variable:
/// part (w / columns, w % columns). With one column this is CMAQ's layout of process rows
/// ("pnetCDFcr"), with one row that of process columns ("pnetCDFcc"), otherwise MOM5's io_layout. A
/// variable that lacks one of the dimensions has one owner along that dimension; if each part is a
/// separate file, all files contain the variable.
std::unique_ptr<Layout> make_grid_layout(Grid grid);

/// All parameters of a layout. Plain and small, so that they can be sent to servers.
struct LayoutChoice {
    std::string method = "record";  ///< serial, slabs, record, rows, columns or tiles
    int writers = 1;
    std::int64_t alignment = 4096;
    std::int64_t part = 0;  ///< see make_record_layout()
    Grid grid;

    bool gridded() const { return method == "rows" || method == "columns" || method == "tiles"; }
};
std::unique_ptr<Layout> make_layout(const LayoutChoice& choice);

}  // namespace thalweg::detail
