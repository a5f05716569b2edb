// Where the elements of held boxes lie that are packed dense, in file order: of a list, what it has
// at positions 0, 1, ...
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"

namespace thalweg {

inline Index dense_shape(const HeldBox& held) {
    return held.list ? held.list->dense_shape(held.box) : held.box.count;
}

inline std::int64_t elements_of(const HeldBox& held) {
    const Index shape = dense_shape(held);
    return volume(std::span(shape.data(), static_cast<std::size_t>(held.box.nd)));
}

/// Byte strides. Along listed dimensions as locate() has them.
inline Index dense_strides(const HeldBox& held, std::int64_t element) {
    const Index shape = dense_shape(held);
    Index stride = strides_of(std::span(shape.data(), static_cast<std::size_t>(held.box.nd)));
    for (int d = 0; d < held.box.nd; ++d) stride[d] *= element;
    return stride;
}

/// Byte of a part's first element. Of a list, the part is one of a run that begins at
/// held.position.
inline std::int64_t offset_in(const HeldBox& held, const Box& part, const Index& stride) {
    std::int64_t offset = held.list ? held.position * stride[held.list->dims.back()] : 0;
    for (int d = 0; d < part.nd; ++d)
        if (!held.list || !held.list->covers(d))
            offset += (part.low[d] - held.box.low[d]) * stride[d];
    return offset;
}

}  // namespace thalweg
