// Strides and offsets of held boxes whose elements are packed dense, in file order; those of a list
// are at positions 0, 1, ...
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"
#include "layout/layout.hpp"

namespace thalweg::detail {

/// Returns the strides, in bytes, of a place whose elements lie densely in the order of the file.
inline Index byte_strides(const VariableSlot& place) {
    Index stride = strides_of(place.shape);
    for (std::size_t d = 0; d < place.shape.size(); ++d) stride[d] *= place.element;
    return stride;
}

inline Index dense_shape(const HeldBox& held) {
    return held.list ? held.list->dense_shape(held.box) : held.box.count;
}

inline std::int64_t elements_of(const HeldBox& held) {
    const Index shape = dense_shape(held);
    return volume(std::span(shape.data(), held.box.nd));
}

/// Returns byte strides of the held elements, packed densely; along listed dimensions as locate()
/// defines them.
inline Index dense_strides(const HeldBox& held, std::int64_t element) {
    const Index shape = dense_shape(held);
    Index stride = strides_of(std::span(shape.data(), held.box.nd));
    for (int d = 0; d < held.box.nd; ++d) stride[d] *= element;
    return stride;
}

/// Returns the extents of the dense array of the held elements in a part.
inline Index dense_shape(const HeldBox& held, const Box& part) {
    Index lengths = part.count;
    if (!held.list) return lengths;
    for (const int d : held.list->dims) lengths[d] = 1;
    lengths[held.list->dims.back()] = held.list->count(part);
    return lengths;
}

inline std::int64_t elements_of(const HeldBox& held, const Box& part) {
    const Index shape = dense_shape(held, part);
    return volume(std::span(shape.data(), part.nd));
}

/// Returns the extents of a part of a held box; for a list, those of a run of mean length.
inline Index extents_of_run(const HeldBox& held, const Box& part) {
    Index count = part.count;
    if (!held.list) return count;
    const IndexList& list = *held.list->list;
    for (const int d : held.list->dims) count[d] = 1;
    count[held.list->dims.back()] =
        list.elements / std::max<std::int64_t>(1, std::ssize(list.runs));
    return count;
}

/// Computes the row-major byte strides for given extents; returns the bytes of all elements.
inline std::int64_t dense_strides(int nd, const Index& lengths, std::int64_t element,
                                  Index& stride) {
    std::int64_t n = element;
    for (int d = nd - 1; d >= 0; --d) {
        stride[d] = n;
        n *= lengths[d];
    }
    return n;
}

/// Returns the offset in bytes of a part's first element. If a list is held, the part belongs to
/// the run that begins at held.position.
inline std::int64_t offset_in(const HeldBox& held, const Box& part, const Index& stride) {
    std::int64_t offset = held.list ? held.position * stride[held.list->dims.back()] : 0;
    for (int d = 0; d < part.nd; ++d)
        if (!held.list || !held.list->covers(d))
            offset += (part.low[d] - held.box.low[d]) * stride[d];
    return offset;
}

}  // namespace thalweg::detail
