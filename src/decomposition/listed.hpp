// The dimensions of a decomposition that a list of indices covers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/// The list of indices that a decomposition holds. The listed dimensions are a single one in
/// memory.
struct Listed {
    /// Position of the first listed dimension, and number of listed dimensions, in memory order.
    int first = 0, count = 0;
    std::int64_t length = 0;  ///< number of positions, including holes
    /// An index may occur more than once; such a list can be read, but not written.
    bool shared = false;
    std::shared_ptr<const IndexList> list;

    bool covers(int dim) const { return dim >= first && dim < first + count; }

    /// Returns the list in a variable's order of dimensions; makes it once for each order.
    /// @param order  for each dimension of the file, the corresponding one of the decomposition
    /// @param packed  true: the positions are 0, 1, ... in ascending order of the indices
    std::shared_ptr<const Listing> in_order(std::span<const int> order,
                                            std::span<const std::int64_t> file_shape,
                                            bool packed = false) const;

private:
    mutable std::map<std::pair<std::vector<int>, bool>, std::shared_ptr<const Listing>> made_;
};

}  // namespace thalweg::detail
