// The dimensions of a decomposition that a list of indices runs over.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/// The list of a decomposition. In memory, the listed dimensions are one.
struct Listed {
    int first = 0, count = 0;  ///< first listed dimension and their number, in memory order
    std::int64_t length = 0;   ///< number of positions, including holes
    bool shared = false;       ///< an index may occur more than once; for reading only
    std::shared_ptr<const IndexList> list;

    bool covers(int dim) const { return dim >= first && dim < first + count; }

    /// Returns the list in a variable's order of dimensions. It is made once for each order.
    /// @param order  the decomposition's dimension of each file dimension
    std::shared_ptr<const Listing> in_order(std::span<const int> order,
                                            std::span<const std::int64_t> file_shape) const;

private:
    mutable std::map<std::vector<int>, std::shared_ptr<const Listing>> made_;
};

}  // namespace thalweg::detail
