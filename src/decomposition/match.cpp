// SPDX-License-Identifier: Apache-2.0
#include "decomposition/match.hpp"

#include <algorithm>

namespace thalweg::detail {

Status match_dimensions(const Decomposition& decomposition, std::span<const std::string> dims,
                        std::span<const std::int64_t> shape, std::vector<int>& order) {
    const Decomposition& d = decomposition;
    const auto differ = [&] {
        return failure(TW_ESHAPE, "its dimensions are ({}), the decomposition's ({})",
                       d.wording.names(dims), d.wording.names(d.dims));
    };
    order.clear();
    if (dims.size() != d.dims.size()) return differ();
    for (std::size_t f = 0; f < dims.size(); ++f) {
        if (std::count(dims.begin(), dims.end(), dims[f]) > 1)
            return failure(TW_ESHAPE,
                           "dimension '{}' occurs twice; it has no decomposition, only a whole",
                           dims[f]);
        const auto m = std::find(d.dims.begin(), d.dims.end(), dims[f]) - d.dims.begin();
        if (m == d.nd()) return differ();
        if (d.shape[static_cast<std::size_t>(m)] != shape[f])
            return failure(TW_ESHAPE, "dimension '{}' has length {}, in the decomposition {}",
                           dims[f], shape[f], d.shape[static_cast<std::size_t>(m)]);
        order.push_back(static_cast<int>(m));
    }
    return {};
}

}  // namespace thalweg::detail
