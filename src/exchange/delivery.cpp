// SPDX-License-Identifier: Apache-2.0
#include "exchange/delivery.hpp"

#include "exchange/copy.hpp"
#include "exchange/copy_runs.hpp"

namespace thalweg::detail {

Index byte_strides(const Place& place) {
    Index stride = strides_of(place.shape);
    for (std::size_t d = 0; d < place.shape.size(); ++d) stride[d] *= place.element;
    return stride;
}

Strided origin_of(const Delivery& delivery) {
    if (delivery.boxes.empty() || !delivery.boxes.front().list) return {};
    return locate(*delivery.decomposition, delivery.order, delivery.boxes.front(), delivery.array);
}

void deliver(Delivery& delivery, const WantedBox& wanted, const Box& part, const char* from,
             const Index& from_stride, const char* fill) {
    const Strided to =
        wanted.list ? delivery.origin
                    : locate(*delivery.decomposition, delivery.order, wanted, delivery.array);
    // The array is memory that the caller gave to be written.
    char* at = const_cast<char*>(to.base);
    for (int d = 0; d < part.nd; ++d)
        if (!wanted.list || !wanted.list->covers(d))
            at += (wanted.at[d] + part.low[d] - wanted.box.low[d]) * to.stride[d];
    delivery.misfits +=
        wanted.list ? copy_runs(*wanted.list, part, {RunOrder::positions, at, to.stride},
                                {RunOrder::indices, from, from_stride}, delivery.kernel, fill)
                    : copy_box(part.nd, part.count, at, to.stride, from, from_stride,
                               delivery.kernel, fill);
}

}  // namespace thalweg::detail
