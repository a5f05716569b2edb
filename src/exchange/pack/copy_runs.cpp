// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/copy_runs.hpp"

#include <algorithm>

#include "base/work.hpp"
#include "exchange/pack/copy.hpp"

namespace thalweg::detail {

namespace {

/// A loop over the dimensions outside of the runs: the unlisted ones before the fastest listed one.
/// Unlisted dimensions after it are part of the runs.
struct Walk {
    int outer = 0;
    std::int64_t count[max_dims], to_stride[max_dims], from_stride[max_dims];

    Walk(const Listing& listing, const Box& box, const Index& to, const Index& from) {
        for (int d = 0; d < listing.dims.back(); ++d) {
            if (listing.covers(d) || box.count[d] == 1) continue;
            count[outer] = box.count[d];
            to_stride[outer] = to[d];
            from_stride[outer++] = from[d];
        }
    }

    /// Calls visit(offset in one side, offset in the other) for each index of the outer dimensions.
    template <class Visit>
    void run(Visit&& visit) const {
        Index at{};
        std::int64_t to = 0, from = 0;
        for (;;) {
            visit(to, from);
            int d = outer - 1;
            for (; d >= 0; --d) {
                to += to_stride[d];
                from += from_stride[d];
                if (++at[d] < count[d]) break;
                to -= count[d] * to_stride[d];
                from -= count[d] * from_stride[d];
                at[d] = 0;
            }
            if (d < 0) return;
        }
    }
};

/// Tests if a box contains one range of indices of the listed dimensions, equally spaced in an
/// array in the order of indices.
bool is_one_range(const Listing& listing, const Box& box, const Index* by_index) {
    const int last = std::ssize(listing.dims) - 1;
    const auto dim = [&](int i) { return listing.dims[i]; };
    const auto length = [&](int i) { return listing.shape[i]; };
    int cut = last;  // dimensions after this one are whole, those before it have one index
    while (cut > 0 && box.count[dim(cut)] == length(cut)) --cut;
    for (int i = 0; i < cut; ++i)
        if (box.count[dim(i)] != 1) return false;
    if (by_index == nullptr) return true;
    for (int i = box.count[dim(cut)] == 1 ? cut + 1 : cut; i < last; ++i)
        if ((*by_index)[dim(i)] != length(i + 1) * (*by_index)[dim(i + 1)]) return false;
    return true;
}

/// Returns the lowest index of a box, flattened over the listed dimensions.
std::int64_t first_index(const Listing& listing, const Box& box) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < listing.dims.size(); ++i)
        first = first * listing.shape[i] + box.low[listing.dims[i]];
    return first;
}

/// Calls visit(runs) for the runs of a list in a box that contains one range of indices. Cuts the
/// first and the last run at the ends of the box.
template <class Visit>
void for_whole_runs(const Listing& listing, const Box& box, Visit&& visit) {
    const std::int64_t low = first_index(listing, box);
    std::int64_t high = 1;
    for (const int d : listing.dims) high *= box.count[d];
    high += low;
    std::span<const Run> runs = listing.near(box);
    const auto clipped = [&](const Run& r) {
        const std::int64_t begin = std::max(low, r.global()), end = std::min(high, r.end());
        const Run run(begin, r.position() + (begin - r.global()), end - begin);
        visit(std::span(&run, 1));
    };
    if (runs.empty()) return;
    if (runs.front().global() < low) {
        clipped(runs.front());
        runs = runs.subspan(1);
    }
    const bool beyond = !runs.empty() && runs.back().end() > high;
    if (const auto whole = runs.first(runs.size() - (beyond ? 1 : 0)); !whole.empty()) visit(whole);
    if (beyond) clipped(runs.back());
}

/// The row of elements of a run: the run's positions, continued by the dimensions that follow
/// densely on both sides.
struct Row {
    std::int64_t behind = 1;  ///< elements per position
    std::ptrdiff_t to_unit, from_unit;
    bool joined = true;

    Row(int inner, const Index& count, const Index& to, const Index& from)
        : to_unit(to[0]), from_unit(from[0]) {
        for (int i = inner - 1; i > 0; --i) {
            if (count[i] == 1) continue;
            if (behind == 1) {
                to_unit = to[i];
                from_unit = from[i];
            } else {
                joined &= to[i] == behind * to_unit && from[i] == behind * from_unit;
            }
            behind *= count[i];
        }
        joined &= to[0] == behind * to_unit && from[0] == behind * from_unit;
    }
};

/// Counts the elements and runs of a list that copy_runs() copies within a box.
CopiedRuns copied_of(const Listing& listing, const Box& box) {
    CopiedRuns copied;
    listing.for_runs(box, [&](const Box& part, std::int64_t, const Run&) {
        copied.elements += part.count[listing.dims.back()];
        ++copied.runs;
    });
    for (int d = 0; d < box.nd; ++d) {
        if (listing.covers(d)) continue;
        copied.elements *= box.count[d];
        if (d < listing.dims.back()) copied.runs *= box.count[d];
    }
    return copied;
}

/// Returns the offset in bytes of the first element of `part` from the base of the source or
/// destination (RunSide). Dimensions that are not listed do not count.
std::int64_t offset_of(const Listing& listing, const Box& box, const Box& part,
                       std::int64_t position, std::int64_t done, RunOrder order,
                       const Index& stride) {
    const std::int64_t step = stride[listing.dims.back()];
    if (order == RunOrder::positions) return position * step;
    if (order == RunOrder::dense) return done * step;
    std::int64_t offset = 0;
    for (const int d : listing.dims) offset += (part.low[d] - box.low[d]) * stride[d];
    return offset;
}

}  // namespace

std::int64_t copy_runs(const Listing& listing, const Box& box, const RunSide<char>& to,
                       const RunSide<const char>& from, RowKernel kernel, const char* fill) {
    if (!charge_runs([&] { return copied_of(listing, box); })) return 0;
    const int fastest = listing.dims.back();
    const std::int64_t to_step = to.stride[fastest], from_step = from.stride[fastest];
    // The inner dimensions are that of the run and those after it.
    const int inner = box.nd - fastest;
    Index to_stride{}, from_stride{}, count{};
    for (int i = 0; i < inner; ++i) {
        count[i] = box.count[fastest + i];
        to_stride[i] = to.stride[fastest + i];
        from_stride[i] = from.stride[fastest + i];
    }
    const Row row(inner, count, to_stride, from_stride);
    const Index* const by_index = to.order == RunOrder::indices     ? &to.stride
                                  : from.order == RunOrder::indices ? &from.stride
                                                                    : nullptr;
    const RunsKernel move = row.behind == 1 && is_one_range(listing, box, by_index)
                                ? runs_kernel(kernel, to.order, from.order)
                                : nullptr;
    const std::int64_t first = first_index(listing, box);
    // The runs kernel counts from index 0, and from the first dense element of the runs it is
    // given.
    const auto origin = [&](RunOrder order, std::int64_t done) {
        return order == RunOrder::indices ? -first : order == RunOrder::dense ? done : 0;
    };
    std::int64_t misfits = 0;
    const Walk walk(listing, box, to.stride, from.stride);
    walk.run([&](std::int64_t to_offset, std::int64_t from_offset) {
        char* const to_base = to.base + to_offset;
        const char* const from_base = from.base + from_offset;
        std::int64_t done = 0;  // number of elements of the list copied so far
        if (move != nullptr) {
            for_whole_runs(listing, box, [&](std::span<const Run> runs) {
                done += move(to_base + origin(to.order, done) * to_step, to_step,
                             from_base + origin(from.order, done) * from_step, from_step, runs);
            });
            return;
        }
        listing.for_runs(box, [&](const Box& part, std::int64_t position, const Run&) {
            const std::int64_t length = part.count[fastest];
            char* const into =
                to_base + offset_of(listing, box, part, position, done, to.order, to.stride);
            const char* const out_of =
                from_base + offset_of(listing, box, part, position, done, from.order, from.stride);
            done += length;
            if (row.joined) {
                misfits +=
                    kernel(into, row.to_unit, out_of, row.from_unit, length * row.behind, fill);
                return;
            }
            count[0] = length;
            misfits += move_box(inner, count, into, to_stride, out_of, from_stride, kernel, fill);
        });
    });
    return misfits;
}

}  // namespace thalweg::detail
