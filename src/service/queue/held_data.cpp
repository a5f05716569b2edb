// SPDX-License-Identifier: Apache-2.0
#include "service/queue/held_data.hpp"

#include "exchange/dense.hpp"
#include "exchange/pack_part.hpp"
#include "exchange/parts.hpp"

namespace thalweg::detail {

HeldData::HeldData(const Definitions& definitions, Packers& packers, Order order)
    : definitions_(definitions), packers_(packers), order_(order), told_(definitions) {
    for (const Variable& v : definitions.variables) {
        held_.push_back(held_by(*v.decomposition, v.order, v.shape));
        fill_.push_back(v.fill_value(order));
    }
}

std::int64_t HeldData::bytes(int i) const {
    const Variable& v = variable(i);
    return v.decomposition->held * v.element();
}

/// Calls visit(held box, what it has of the range, elements of that).
template <class Visit>
void HeldData::for_range(int i, ElementRange range, Visit&& visit) const {
    for_frames(variable(i).shape, range, at(held_, i), [&](const HeldBox& held, const Box& part) {
        const Index lengths = dense_shape(held, part);
        visit(held, part, volume(std::span(lengths.data(), part.nd)));
    });
}

std::int64_t HeldData::bytes(int i, ElementRange range) const {
    std::int64_t elements = 0;
    for_range(i, range, [&](const HeldBox&, const Box&, std::int64_t n) { elements += n; });
    return elements * variable(i).element();
}

std::int64_t HeldData::pack(int i, const ArrayView& view, char* to) const {
    const Variable& v = variable(i);
    const std::int64_t size = v.element();
    const RowKernel kernel = pack_kernel(view.type, v.type, order_);
    const char* fill = at(fill_, i).data();
    std::int64_t misfits = 0;
    for (std::size_t b = 0; b < at(held_, i).size(); ++b) {
        const HeldBox& held = at(held_, i)[b];
        const HeldBox& told = told_.of(i)[b];
        const Strided from = locate(*v.decomposition, v.order, held, view);
        // Positions that were counted anew are in another order than the array's.
        misfits +=
            told.list != held.list
                ? pack_part(packers_, held, held.box, from, to, kernel, size, fill)
                : packers_.copy_box(told.box.nd, dense_shape(told), to, dense_strides(told, size),
                                    from.base, from.stride, kernel, fill);
        to += elements_of(told) * size;
    }
    return misfits;
}

std::int64_t HeldData::pack(int i, ElementRange range, const ArrayView& view, char* to) const {
    const Variable& v = variable(i);
    std::int64_t misfits = 0;
    for_range(i, range, [&](const HeldBox& held, const Box& part, std::int64_t n) {
        if (!has_any(held, part)) return;
        const Strided from = locate(*v.decomposition, v.order, held, view);
        misfits += pack(i, held, part, from, view.type, to);
        to += n * v.element();
    });
    return misfits;
}

std::int64_t HeldData::pack(int i, const HeldBox& held, const Box& part, const Strided& from,
                            tw_type type, char* to) const {
    const Variable& v = variable(i);
    return pack_part(packers_, held, part, from, to, pack_kernel(type, v.type, order_), v.element(),
                     at(fill_, i).data());
}

}  // namespace thalweg::detail
