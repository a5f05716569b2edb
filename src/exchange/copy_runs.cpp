// SPDX-License-Identifier: Apache-2.0
#include "exchange/copy_runs.hpp"

namespace thalweg {

namespace {

/// Dimensions that are not listed and come before the fastest listed one are walked outside of the
/// runs, those behind it inside.
struct Walk {
    int outer = 0;
    std::int64_t count[max_dims], index_stride[max_dims], position_stride[max_dims];

    Walk(const Listing& listing, const Box& box, const RunSide& by_index,
         const RunSide& by_position) {
        for (int d = 0; d < listing.dims.back(); ++d) {
            if (listing.covers(d) || box.count[d] == 1) continue;
            count[outer] = box.count[d];
            index_stride[outer] = by_index.stride[d];
            position_stride[outer++] = by_position.stride[d];
        }
    }

    /// Calls visit(offset by index, offset by position) for all of the outer dimensions.
    template <class Visit>
    void run(Visit&& visit) const {
        Index at{};
        std::int64_t by_index = 0, by_position = 0;
        for (;;) {
            visit(by_index, by_position);
            int d = outer - 1;
            for (; d >= 0; --d) {
                by_index += index_stride[d];
                by_position += position_stride[d];
                if (++at[d] < count[d]) break;
                by_index -= count[d] * index_stride[d];
                by_position -= count[d] * position_stride[d];
                at[d] = 0;
            }
            if (d < 0) return;
        }
    }
};

template <bool to_indices>
std::int64_t copy(const Listing& listing, const Box& box, const RunSide& by_index,
                  const RunSide& by_position, RowKernel kernel, const char* fill) {
    const int fastest = listing.dims.back();
    const std::int64_t index_step = by_index.stride[fastest];
    const std::int64_t position_step = by_position.stride[fastest];
    // The run's own dimension and those behind it.
    const int inner = box.nd - fastest;
    Index index_stride{}, position_stride{}, count{};
    for (int i = 0; i < inner; ++i) {
        count[i] = box.count[fastest + i];
        index_stride[i] = by_index.stride[fastest + i];
        position_stride[i] = by_position.stride[fastest + i];
    }
    // What lies dense on both sides behind the run continues it.
    std::int64_t behind = 1, unit_index = index_step, unit_position = position_step;
    bool joined = true;
    for (int i = inner - 1; i > 0; --i) {
        if (count[i] == 1) continue;
        if (behind == 1) {
            unit_index = index_stride[i];
            unit_position = position_stride[i];
        } else {
            joined &= index_stride[i] == behind * unit_index &&
                      position_stride[i] == behind * unit_position;
        }
        behind *= count[i];
    }
    if (behind > 1)
        joined &= index_step == behind * unit_index && position_step == behind * unit_position;
    std::int64_t misfits = 0;
    const Walk walk(listing, box, by_index, by_position);
    walk.run([&](std::int64_t index_offset, std::int64_t position_offset) {
        char* const index_base = by_index.base + index_offset;
        char* const position_base = by_position.base + position_offset;
        listing.for_runs(box, [&](const Box& part, std::int64_t position, const Run&) {
            std::int64_t at = 0;
            for (const int d : listing.dims) at += (part.low[d] - box.low[d]) * by_index.stride[d];
            char* const i = index_base + at;
            char* const p = position_base + position * position_step;
            char* const to = to_indices ? i : p;
            const char* const from = to_indices ? p : i;
            const std::int64_t length = part.count[fastest];
            if (joined) {
                misfits += kernel(to, to_indices ? unit_index : unit_position, from,
                                  to_indices ? unit_position : unit_index, length * behind, fill);
            } else {
                count[0] = length;
                misfits +=
                    copy_box(inner, count, to, to_indices ? index_stride : position_stride, from,
                             to_indices ? position_stride : index_stride, kernel, fill);
            }
        });
    });
    return misfits;
}

}  // namespace

std::int64_t copy_to_indices(const Listing& listing, const Box& box, const RunSide& by_index,
                             const RunSide& by_position, RowKernel kernel, const char* fill) {
    return copy<true>(listing, box, by_index, by_position, kernel, fill);
}

std::int64_t copy_to_positions(const Listing& listing, const Box& box, const RunSide& by_index,
                               const RunSide& by_position, RowKernel kernel, const char* fill) {
    return copy<false>(listing, box, by_index, by_position, kernel, fill);
}

}  // namespace thalweg
