// SPDX-License-Identifier: Apache-2.0
#include "pack.hpp"

#include "exchange/copy.hpp"

namespace thalweg::bench {

Pack::Pack(const Problem& problem) : problem_(problem) {
    std::int64_t bytes = 0;
    for (const Variable& v : problem.variables()) bytes += problem.group(v).local_bytes();
    buffer_.assign(static_cast<std::size_t>(bytes), 1);
}

void Pack::step(int step) {
    char* to = buffer_.data();
    for (const Variable& v : problem_.variables()) {
        const Group& g = problem_.group(v);
        const std::int64_t size = element_bytes(g.spec->type);
        const int nd = static_cast<int>(g.shape.size());
        detail::Index count{}, to_stride{}, from_stride{};
        std::int64_t next = size;
        for (int d = nd - 1; d >= 0; --d) {
            count[d] = g.part.count[static_cast<std::size_t>(d)];
            to_stride[d] = next;
            next *= count[d];
        }
        next = size;
        for (auto d = g.memory_axis.rbegin(); d != g.memory_axis.rend(); ++d) {
            from_stride[*d] = next;
            next *= count[*d];
        }
        const tw_type type = g.spec->type == Element::f4 ? TW_FLOAT : TW_DOUBLE;
        const char fill[8] = {};
        detail::copy_box(nd, count, to, to_stride,
                         static_cast<const char*>(problem_.values(v, step)), from_stride,
                         detail::pack_kernel(type, type, detail::Order::big_endian), fill);
        to += g.local_bytes();
    }
}

}  // namespace thalweg::bench
