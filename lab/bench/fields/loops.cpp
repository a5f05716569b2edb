// SPDX-License-Identifier: Apache-2.0
#include "fields/loops.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include "exchange/pack/copy.hpp"

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

}  // namespace

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

void pack(const Group& g, const void* memory, char* to) {
    const std::int64_t size = element_bytes(g.spec->type);
    if (g.list || g.boxes.size() != 1 || g.halo > 0) {
        const auto n = static_cast<std::size_t>(g.local_bytes() / 4);
        const auto* from = static_cast<const std::uint32_t*>(memory);
        for (std::size_t i = 0; i < n; ++i)
            reinterpret_cast<std::uint32_t*>(to)[i] = __builtin_bswap32(from[i]);
        return;
    }
    const int nd = static_cast<int>(g.shape.size());
    detail::Index count{}, to_stride{}, from_stride{};
    std::int64_t next = size;
    for (int d = nd - 1; d >= 0; --d) {
        count[d] = g.part().count[static_cast<std::size_t>(d)];
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
    detail::copy_box(nd, count, to, to_stride, static_cast<const char*>(memory), from_stride,
                     detail::pack_kernel(type, type, detail::Order::big_endian), fill);
}

void compute_arithmetic(std::int64_t rounds) {
    alignas(64) static std::array<double, 1024> ring = [] {
        std::array<double, 1024> start{};
        for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<double>(i % 7);
        return start;
    }();
    for (std::int64_t r = 0; r < rounds; ++r) {
        const double first = ring[0];
        for (std::size_t i = 0; i + 1 < ring.size(); ++i)
            ring[i] = 0.75 * ring[i] + 0.25 * ring[i + 1];
        ring.back() = 0.75 * ring.back() + 0.25 * first;
        // Keep the compiler from removing rounds.
        asm volatile("" : : "r"(ring.data()) : "memory");
    }
}

void add_plainly(const float* values, std::int64_t n, double* sums) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += values[i];
}

void interpolate_plainly(const float* coordinate, const float* values, std::int64_t levels,
                         std::int64_t columns, std::span<const float> wanted, double* sums) {
    for (const float level : wanted) {
        for (std::int64_t k = 0; k + 1 < levels; ++k) {
            const float *p = coordinate + k * columns, *x = values + k * columns;
            for (std::int64_t c = 0; c < columns; ++c)
                if (p[c] <= level && level < p[c + columns])
                    sums[c] +=
                        x[c] + (x[c + columns] - x[c]) * (level - p[c]) / (p[c + columns] - p[c]);
        }
        sums += columns;
    }
}

void map_plainly(std::span<const std::int64_t> begin, const std::int32_t* columns,
                 const double* weights, const double* from, double* to) {
    for (std::size_t row = 0; row + 1 < begin.size(); ++row) {
        double sum = 0;
        for (std::int64_t i = begin[row]; i < begin[row + 1]; ++i)
            sum += weights[i] * from[columns[i]];
        to[row] = sum;
    }
}

}  // namespace thalweg::bench
