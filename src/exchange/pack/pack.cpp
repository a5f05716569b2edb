// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/pack.hpp"

#include "exchange/pack/copy_runs.hpp"
#include "exchange/pack/dense.hpp"

namespace thalweg::detail {

Strided Part::locate(std::size_t at, std::int64_t element) const {
    const HeldBox& held = boxes()[at];
    if (packed != nullptr)
        return {packed + holding->packed_at[at] * element, dense_strides(held, element)};
    if (!holding->decomposition) return {array.data, array.stride};
    return detail::locate(*holding->decomposition, holding->order, held, array);
}

std::int64_t pack(Packers& packers, const Variable& v, Order order, const Part& part,
                  std::size_t at, const Box& box, char* to) {
    const HeldBox& held = part.boxes()[at];
    Strided from = part.locate(at, v.element());
    from.base += offset_in(held, box, from.stride);
    Index stride{};
    dense_strides(box.nd, dense_shape(held, box), v.element(), stride);
    const RowKernel kernel = part.kernel(v.type, order);
    const FillValue fill = v.fill_value(order);
    if (!held.list)
        return packers.copy_box(box.nd, box.count, to, stride, from.base, from.stride, kernel,
                                fill.data());
    return copy_runs(*held.list, box, {RunOrder::dense, to, stride},
                     {RunOrder::positions, from.base, from.stride}, kernel, fill.data());
}

std::int64_t pack(Packers& packers, const Variable& v, Order order, const Part& part, char* to) {
    const std::int64_t size = v.element();
    const FillValue fill = v.fill_value(order);
    std::int64_t misfits = 0;
    for (std::size_t at = 0; at < part.boxes().size(); ++at) {
        const HeldBox& held = part.boxes()[at];
        const HeldBox& packed = part.holding->packed[at];
        if (packed.list != held.list) {  // the list was renumbered for packing
            misfits += pack(packers, v, order, part, at, held.box, to);
        } else {
            const Strided from = part.locate(at, size);
            misfits += packers.copy_box(packed.box.nd, dense_shape(packed), to,
                                        dense_strides(packed, size), from.base, from.stride,
                                        part.kernel(v.type, order), fill.data());
        }
        to += elements_of(packed) * size;
    }
    return misfits;
}

const char* find_packed(const Variable& v, Order order, const Part& part, std::size_t at,
                        const Box& box) {
    const HeldBox& held = part.boxes()[at];
    if (held.list || part.kernel(v.type, order) != move_kernel(v.element())) return nullptr;
    const Strided from = part.locate(at, v.element());
    Index dense{};
    dense_strides(box.nd, box.count, v.element(), dense);
    for (int d = 0; d < box.nd; ++d)
        if (box.count[d] > 1 && from.stride[d] != dense[d]) return nullptr;
    return from.base + offset_in(held, box, from.stride);
}

}  // namespace thalweg::detail
