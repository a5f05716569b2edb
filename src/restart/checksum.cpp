// SPDX-License-Identifier: Apache-2.0
#include "restart/checksum.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace thalweg::detail {

namespace {

__extension__ using Product = unsigned __int128;

constexpr std::uint64_t mask = 0xD6E8FEB86659FD93ULL;
constexpr std::uint64_t weight = 0x9E3779B97F4A7C15ULL;

/// Sums n elements, given the distance in bytes from one to the next, and the distance of their
/// positions.
using RowSum = Checksum (*)(const char* from, std::ptrdiff_t stride, std::int64_t position,
                            std::int64_t step, std::int64_t n);

template <class Bits>
Checksum sum_row(const char* from, std::ptrdiff_t stride, std::int64_t position, std::int64_t step,
                 std::int64_t n) {
    Checksum sum = 0;
    std::uint64_t factor = (position + 1) * weight;
    const std::uint64_t next = step * weight;
    for (std::int64_t i = 0; i < n; ++i) {
        Bits bits;
        std::memcpy(&bits, from + i * stride, sizeof bits);
        Product product = bits ^ mask;
        product *= factor;
        sum += product ^ product >> 64;
        factor += next;
    }
    return sum;
}

RowSum row_sum(std::size_t size) {
    switch (size) {
        case 1: return sum_row<std::uint8_t>;
        case 2: return sum_row<std::uint16_t>;
        case 4: return sum_row<std::uint32_t>;
        default: return sum_row<std::uint64_t>;
    }
}

struct Loop {
    std::int64_t count;
    std::ptrdiff_t stride;  ///< distance in memory, in bytes
    std::int64_t step;      ///< distance of positions in the variable
};

Checksum sum_loops(const Loop* loops, int n, const char* from, std::int64_t position, RowSum row) {
    if (n == 0) return row(from, 0, position, 0, 1);
    const Loop& loop = loops[0];
    if (n == 1) return row(from, loop.stride, position, loop.step, loop.count);
    Checksum sum = 0;
    for (std::int64_t i = 0; i < loop.count; ++i)
        sum += sum_loops(loops + 1, n - 1, from + i * loop.stride, position + i * loop.step, row);
    return sum;
}

/// Sorts loops by their strides in memory.
void sort_loops(std::vector<Loop>& loops) {
    std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
        return std::pair(std::abs(a.stride), a.step) > std::pair(std::abs(b.stride), b.step);
    });
}

/// Sums a box whose first element is at a position of the variable.
Checksum sum_box(const Box& box, std::int64_t position, const Strided& at, const Index& steps,
                 RowSum row) {
    std::vector<Loop> loops;
    for (int d = 0; d < box.nd; ++d)
        if (box.count[d] > 1) loops.push_back({box.count[d], at.stride[d], steps[d]});
    sort_loops(loops);
    std::vector<Loop> merged;
    for (const Loop& inner : loops) {
        if (!merged.empty() && merged.back().stride == inner.stride * inner.count &&
            merged.back().step == inner.step * inner.count)
            merged.back() = {merged.back().count * inner.count, inner.stride, inner.step};
        else
            merged.push_back(inner);
    }
    return sum_loops(merged.data(), merged.size(), at.base, position, row);
}

/// Sums the elements of a list that lie in a box. Since runs may be short, all use the same loops,
/// in which only one count changes.
Checksum sum_list(const HeldBox& held, std::span<const std::int64_t> shape, const Strided& at,
                  const Index& steps, RowSum row) {
    const int fastest = held.list->dims.back();
    std::vector<Loop> loops{{0, at.stride[fastest], steps[fastest]}};
    for (int d = 0; d < held.box.nd; ++d)
        if (!held.list->covers(d) && held.box.count[d] > 1)
            loops.push_back({held.box.count[d], at.stride[d], steps[d]});
    sort_loops(loops);
    Loop& of_run =
        *std::find_if(loops.begin(), loops.end(), [](const Loop& l) { return l.count == 0; });
    Checksum sum = 0;
    held.list->for_runs(held.box, [&](const Box& part, std::int64_t position, const Run&) {
        of_run.count = part.count[fastest];
        sum += sum_loops(loops.data(), loops.size(), at.base + position * at.stride[fastest],
                         linear(shape, part.low), row);
    });
    return sum;
}

}  // namespace

Checksum sum_held(const Variable& v, const Holding& holding, const ArrayView& array) {
    const RowSum row = row_sum(v.element());
    const Index steps = strides_of(v.shape);
    Checksum sum = 0;
    for (const HeldBox& held : holding.held) {
        const Strided at = locate(*holding.decomposition, holding.order, held, array);
        sum += held.list ? sum_list(held, v.shape, at, steps, row)
                         : sum_box(held.box, held.first, at, steps, row);
    }
    return sum;
}

Checksum sum_written(const Variable& v, const Holding& holding, const ArrayView& array, int rank,
                     int ranks) {
    const Checksum sum = sum_held(v, holding, array);
    if (holding.decomposition->whole) return sum;
    // Count all elements as if they had the fill value, divided equally among the ranks, and
    // subtract those that are held.
    const FillValue fill = v.fill_value();
    ArrayView fills;
    fills.data = fill.data();
    fills.type = v.type;
    fills.dense = false;
    const std::int64_t n = v.elements();
    const auto before = [&](Product r) -> std::int64_t { return n * r / ranks; };
    const std::int64_t begin = before(rank), end = before(rank + 1);
    return sum - sum_held(v, holding, fills) +
           row_sum(v.element())(fill.data(), 0, begin, 1, end - begin);
}

std::string checksum_text(Checksum sum) { return fmt::format("{:016X}", sum); }

}  // namespace thalweg::detail
