// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "storage/source.hpp"

namespace thalweg::detail {

/// Reads a whole variable with several readers, in pieces of a given number of elements.
inline Status read_values(Source& source, const std::string& name, std::int64_t record,
                          std::int64_t piece, std::vector<char>& all) {
    const int v = source.definitions().find_variable(name);
    const Variable& variable = source.definitions().variables[static_cast<std::size_t>(v)];
    if (Status status = source.check(v, record); !status.ok()) return status;
    const auto element = variable.element();
    all.assign(static_cast<std::size_t>(variable.elements() * element), '?');
    for (const SourcePart& part : source.parts(v, 3)) {
        const std::int64_t n = part.box.volume();
        std::vector<char> dense(static_cast<std::size_t>(n * element));
        for (std::int64_t first = 0; first < n; first += piece) {
            const ReadRange range{v,
                                  record,
                                  &part,
                                  first,
                                  std::min(piece, n - first),
                                  dense.data() + first * element};
            if (Status status = source.read({&range, 1}); !status.ok()) return status;
        }
        const std::span shape(part.box.count.data(), variable.shape.size());
        for (std::int64_t i = 0; i < n; ++i) {
            Index at{};
            std::int64_t rest = i;
            for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
                at[d] = part.box.low[d] + rest % shape[d];
            std::memcpy(all.data() + linear(variable.shape, at) * element,
                        dense.data() + i * element, static_cast<std::size_t>(element));
        }
    }
    return {};
}

}  // namespace thalweg::detail
