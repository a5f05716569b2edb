// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack_part.hpp"

#include "exchange/copy_runs.hpp"
#include "exchange/dense.hpp"

namespace thalweg::detail {

std::int64_t pack_part(Packers& packers, const HeldBox& held, const Box& part, Strided from,
                       char* to, RowKernel kernel, std::int64_t size, const char* fill) {
    for (int d = 0; d < part.nd; ++d)
        if (!held.list || !held.list->covers(d))
            from.base += (part.low[d] - held.box.low[d]) * from.stride[d];
    Index stride{};
    dense_strides(part.nd, dense_shape(held, part), size, stride);
    if (!held.list)
        return packers.copy_box(part.nd, part.count, to, stride, from.base, from.stride, kernel,
                                fill);
    return copy_runs(*held.list, part, {RunOrder::dense, to, stride},
                     {RunOrder::positions, from.base, from.stride}, kernel, fill);
}

}  // namespace thalweg::detail
