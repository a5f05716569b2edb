// SPDX-License-Identifier: Apache-2.0
#include "exchange/read/delivery.hpp"

#include "exchange/pack/copy.hpp"
#include "exchange/pack/copy_runs.hpp"

namespace thalweg::detail {

Strided origin_of(const Delivery& delivery) {
    if (delivery.boxes.empty() || !delivery.boxes.front().list) return {};
    return locate(*delivery.decomposition, delivery.order, delivery.boxes.front(), delivery.array);
}

namespace {

/// Delivers a part of a section. The part may begin and end between wanted elements.
void deliver_section(Delivery& delivery, const WantedBox& wanted, const Box& part, const char* from,
                     const Index& from_stride, const char* fill) {
    char* at = const_cast<char*>(delivery.origin.base);
    Index count{}, stride{};
    for (int d = 0; d < part.nd; ++d) {
        const std::int64_t step = delivery.step[d];
        const std::int64_t before = wanted.at[d] + part.low[d] - wanted.box.low[d];
        const std::int64_t index = (before + step - 1) / step;
        const std::int64_t skipped = index * step - before;
        if (skipped >= part.count[d]) return;
        count[d] = (part.count[d] - skipped - 1) / step + 1;
        at += index * delivery.origin.stride[d];
        from += skipped * from_stride[d];
        stride[d] = step * from_stride[d];
    }
    delivery.misfits +=
        copy_box(part.nd, count, at, delivery.origin.stride, from, stride, delivery.kernel, fill);
}

}  // namespace

void deliver(Delivery& delivery, const WantedBox& wanted, const Box& part, const char* from,
             const Index& from_stride, const char* fill) {
    if (delivery.decomposition == nullptr)
        return deliver_section(delivery, wanted, part, from, from_stride, fill);
    const Strided to =
        wanted.list ? delivery.origin
                    : locate(*delivery.decomposition, delivery.order, wanted, delivery.array);
    // A caller that reads has passed memory that may be written.
    char* at = const_cast<char*>(to.base);
    for (int d = 0; d < part.nd; ++d)
        if (!wanted.list || !wanted.list->covers(d))
            at += (wanted.at[d] + part.low[d] - wanted.box.low[d]) * to.stride[d];
    delivery.misfits += copy_held(wanted, part, {RunOrder::positions, at, to.stride},
                                  {RunOrder::indices, from, from_stride}, delivery.kernel, fill);
}

}  // namespace thalweg::detail
