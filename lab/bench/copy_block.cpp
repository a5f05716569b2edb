// SPDX-License-Identifier: Apache-2.0
#include "copy_block.hpp"

#include <cstddef>
#include <cstring>

namespace thalweg::bench {
namespace {

/// Returns the stride of each file dimension in a part that is dense in memory order.
std::vector<std::int64_t> memory_strides(const Group& g, const Part& part) {
    std::vector<std::int64_t> stride(g.shape.size());
    std::int64_t next = 1;
    for (std::size_t m = g.memory_axis.size(); m-- > 0;) {
        stride[g.memory_axis[m]] = next;
        next *= part.count[g.memory_axis[m]];
    }
    return stride;
}

template <class T>
void copy_row(std::int64_t n, const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride) {
    const T* in = reinterpret_cast<const T*>(from);
    T* out = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) out[i * to_stride] = in[i * from_stride];
}

}  // namespace

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> stride(shape.size());
    std::int64_t next = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        stride[d] = next;
        next *= shape[d];
    }
    return stride;
}

void copy_block(const std::vector<std::int64_t>& count, const void* from,
                const std::vector<std::int64_t>& from_stride, void* to,
                const std::vector<std::int64_t>& to_stride, std::int64_t bytes_per_element) {
    const std::byte* in = static_cast<const std::byte*>(from);
    std::byte* out = static_cast<std::byte*>(to);
    const std::size_t nd = count.size();
    if (nd == 0) {
        std::memcpy(out, in, static_cast<std::size_t>(bytes_per_element));
        return;
    }
    for (const std::int64_t c : count)
        if (c == 0) return;

    // Combine the last dimensions, as far as both sides are dense, into one long row.
    std::size_t outer = nd - 1;
    std::int64_t row = count[outer];
    const std::int64_t in_step = from_stride[outer], out_step = to_stride[outer];
    const bool dense = in_step == 1 && out_step == 1;
    while (dense && outer > 0 && from_stride[outer - 1] == row && to_stride[outer - 1] == row)
        row *= count[--outer];

    std::vector<std::int64_t> index(outer, 0);
    for (;;) {
        std::int64_t in_at = 0, out_at = 0;
        for (std::size_t d = 0; d < outer; ++d) {
            in_at += index[d] * from_stride[d];
            out_at += index[d] * to_stride[d];
        }
        const std::byte* a = in + in_at * bytes_per_element;
        std::byte* b = out + out_at * bytes_per_element;
        if (dense)
            std::memcpy(b, a, static_cast<std::size_t>(row * bytes_per_element));
        else if (bytes_per_element == 4)
            copy_row<std::uint32_t>(row, a, in_step, b, out_step);
        else
            copy_row<std::uint64_t>(row, a, in_step, b, out_step);
        std::size_t d = outer;
        while (d > 0 && ++index[d - 1] == count[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}

void to_file_order(const Group& group, const Part& part, const void* memory, void* block) {
    copy_block(part.count, memory, memory_strides(group, part), block,
               row_major_strides(part.count), element_bytes(group.spec->type));
}

void from_file_order(const Group& group, const Part& part, const void* block, void* memory) {
    copy_block(part.count, block, row_major_strides(part.count), memory,
               memory_strides(group, part), element_bytes(group.spec->type));
}

void place_in_global(const Group& group, const Part& part, const void* memory, void* global) {
    const std::vector<std::int64_t> stride = row_major_strides(group.shape);
    std::int64_t at = 0;
    for (std::size_t d = 0; d < stride.size(); ++d) at += part.start[d] * stride[d];
    const std::int64_t size = element_bytes(group.spec->type);
    copy_block(part.count, memory, memory_strides(group, part),
               static_cast<std::byte*>(global) + at * size, stride, size);
}

}  // namespace thalweg::bench
