// How the elements of a variable are stored: in chunks, and with which filters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace thalweg::detail {

/// A filter of a variable, as HDF5 describes it. The filters of a chunk are applied one after
/// another.
struct StoredFilter {
    std::int32_t id = 0;       ///< identifier of the filter in HDF5
    std::int32_t element = 1;  ///< bytes of an element, for shuffle
    std::int32_t level = 0;    ///< level of deflate or zstd
};

/// The storage of a variable's elements.
struct VariableStorage {
    std::vector<std::int64_t> chunk;    ///< chunk length in each dimension; empty: not chunked
    std::vector<StoredFilter> filters;  ///< filters in the order in which they were applied
};

}  // namespace thalweg::detail
