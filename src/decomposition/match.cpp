// SPDX-License-Identifier: Apache-2.0
#include "decomposition/match.hpp"

#include <algorithm>
#include <numeric>

namespace thalweg::detail {

Status match_dimensions(const Decomposition& decomposition, std::span<const std::string> dims,
                        std::span<const std::int64_t> shape, std::vector<int>& order) {
    const Decomposition& d = decomposition;
    if (d.by_position()) {
        if (!std::equal(shape.begin(), shape.end(), d.shape.begin(), d.shape.end()))
            return failure(TW_ESHAPE,
                           "its dimensions ({}) have the lengths ({}), but those of the "
                           "decomposition have ({})",
                           d.wording.names(dims), d.wording.list(shape), d.wording.list(d.shape));
        order.resize(dims.size());
        std::iota(order.begin(), order.end(), 0);
        return {};
    }
    order = match_names(dims, d.dims);
    if (dims.size() != d.dims.size() || std::count(order.begin(), order.end(), -1) > 0)
        return failure(TW_ESHAPE,
                       "its dimensions, without the record dimension, are ({}), but those of the "
                       "decomposition are ({})",
                       d.wording.names(dims), d.wording.names(d.dims));
    for (std::size_t f = 0; f < dims.size(); ++f) {
        const std::int64_t length = d.shape[order[f]];
        if (length != shape[f])
            return failure(TW_ESHAPE, "dimension '{}' has length {}, but {} in the decomposition",
                           dims[f], shape[f], length);
    }
    return {};
}

}  // namespace thalweg::detail
