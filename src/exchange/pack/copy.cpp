// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/copy.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/work.hpp"

namespace thalweg::detail {

namespace {

struct Loop {
    std::int64_t count;
    std::ptrdiff_t to;
    std::ptrdiff_t from;
};

/// A tile of 16 rows of 256 elements keeps the lines it touches in the first-level cache.
constexpr std::int64_t tile_rows = 16;
constexpr std::int64_t tile_length = 256;

/// Calls copy(to, from) for each index of n loops, and adds up the results.
template <class Copy>
std::int64_t run_loops(const Loop* loops, int n, char* to, const char* from, const Copy& copy) {
    if (n == 0) return copy(to, from);
    std::int64_t misfits = 0;
    for (std::int64_t i = 0; i < loops[0].count; ++i) {
        char* const into = to + i * loops[0].to;
        const char* const out_of = from + i * loops[0].from;
        misfits += n == 1 ? copy(into, out_of) : run_loops(loops + 1, n - 1, into, out_of, copy);
    }
    return misfits;
}

std::int64_t copy_tiled(const Loop& rows, const Loop& row, char* to, const char* from,
                        RowKernel kernel, const char* fill) {
    std::int64_t misfits = 0;
    for (std::int64_t r = 0; r < rows.count; r += tile_rows) {
        const std::int64_t r_end = std::min(rows.count, r + tile_rows);
        for (std::int64_t c = 0; c < row.count; c += tile_length) {
            const std::int64_t length = std::min(tile_length, row.count - c);
            for (std::int64_t i = r; i < r_end; ++i)
                misfits += kernel(to + i * rows.to + c * row.to, row.to,
                                  from + i * rows.from + c * row.from, row.from, length, fill);
        }
    }
    return misfits;
}

}  // namespace

std::int64_t copy_box(int nd, const Index& count, char* to, const Index& to_stride,
                      const char* from, const Index& from_stride, RowKernel kernel,
                      const char* fill) {
    if (!charge_copy(std::span(count.data(), nd))) return 0;
    return move_box(nd, count, to, to_stride, from, from_stride, kernel, fill);
}

std::int64_t move_box(int nd, const Index& count, char* to, const Index& to_stride,
                      const char* from, const Index& from_stride, RowKernel kernel,
                      const char* fill) {
    // Order the loops so that the destination's fastest dimension comes last, and merge dimensions
    // that are contiguous with each other on both sides.
    Loop loops[max_dims + 1];
    int n = 0;
    for (int d = 0; d < nd; ++d) {
        if (count[d] == 0) return 0;
        if (count[d] == 1) continue;
        const Loop loop{count[d], to_stride[d], from_stride[d]};
        if (n > 0 && loops[n - 1].to == loop.to * loop.count &&
            loops[n - 1].from == loop.from * loop.count) {
            loops[n - 1] = {loops[n - 1].count * loop.count, loop.to, loop.from};
        } else {
            loops[n++] = loop;
        }
    }
    if (n == 0) return kernel(to, 1, from, 1, 1, fill);

    // If the source's fastest dimension is not the destination's, the two are tiled together.
    int fastest = n - 1;
    for (int i = 0; i < n - 1; ++i)
        if (std::abs(loops[i].from) < std::abs(loops[fastest].from)) fastest = i;
    const Loop rows = loops[fastest];
    const Loop row = loops[n - 1];
    if (fastest == n - 1)
        return run_loops(loops, n - 1, to, from, [&](char* into, const char* out_of) {
            return kernel(into, row.to, out_of, row.from, row.count, fill);
        });
    for (int i = fastest; i < n - 2; ++i) loops[i] = loops[i + 1];
    return run_loops(loops, n - 2, to, from, [&](char* into, const char* out_of) {
        return copy_tiled(rows, row, into, out_of, kernel, fill);
    });
}

}  // namespace thalweg::detail
