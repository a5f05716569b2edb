// SPDX-License-Identifier: Apache-2.0
#include "exchange/section.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace thalweg::detail {

namespace {

/// Bytes between wanted elements that are read rather than skipped: a read of its own costs as
/// much.
constexpr std::int64_t largest_gap = std::int64_t(16) << 10;

/// The ranges in which a box is read: the first `outer` dimensions are gone through one by one.
struct SideRanges {
    int outer = 0;
    std::int64_t count = 1, length = 1;  ///< elements of each
};

SideRanges ranges_of(const Place& place, const Box& box, const Index& step) {
    const Index stride = strides_of(place.shape);
    SideRanges ranges{box.nd};
    for (; ranges.outer > 0; --ranges.outer) {
        const int d = ranges.outer - 1;
        const std::int64_t last = (box.count[d] - 1) / step[d];
        if (last > 0 && (step[d] * stride[d] - ranges.length) * place.element > largest_gap) break;
        ranges.length += last * step[d] * stride[d];
    }
    for (int d = 0; d < ranges.outer; ++d) ranges.count *= (box.count[d] - 1) / step[d] + 1;
    return ranges;
}

/// Calls visit(first element) for each range of a box, in order, until one returns false.
template <class Visit>
void for_ranges(const Place& place, const Box& box, const Index& step, const SideRanges& ranges,
                Visit&& visit) {
    Index at = box.low;
    for (std::int64_t r = 0; r < ranges.count; ++r) {
        if (!visit(linear(place.shape, at))) return;
        for (int d = ranges.outer - 1; d >= 0; --d) {
            if ((at[d] += step[d]) < box.low[d] + box.count[d]) break;
            at[d] = box.low[d];
        }
    }
}

}  // namespace

bool section_within(const Section& section, const Box& part, WantedBox& wanted) {
    Box common;
    if (!intersect(section.box, part, common)) return false;
    for (int d = 0; d < part.nd; ++d) {
        const std::int64_t step = section.step[d];
        const std::int64_t before = common.low[d] - section.box.low[d];
        const std::int64_t at = (before + step - 1) / step * step;
        const std::int64_t left = common.count[d] - (at - before);
        if (left <= 0) return false;
        wanted.at[d] = at;
        common.low[d] += at - before - part.low[d];
        common.count[d] = (left - 1) / step * step + 1;
    }
    wanted = {held_box(common, std::span(part.count.data(), part.nd)), wanted.at};
    return true;
}

double section_cost(const Place& place, const WantedBox& wanted, const Index& step,
                    std::int64_t shortest) {
    const SideRanges ranges = ranges_of(place, wanted.box, step);
    const std::int64_t bytes = ranges.length * place.element;
    if (place.grain <= 0) return ranges.count * std::max<double>(bytes, shortest);
    // What is between two multiples of the grain is read as one, and kept for the next range.
    double cost = 0;
    std::int64_t read = 0;
    for_ranges(place, wanted.box, step, ranges, [&](std::int64_t first) {
        const std::int64_t begin = first * place.element;
        const std::int64_t from = std::max(read, begin / place.grain * place.grain);
        const std::int64_t to = (begin + bytes + place.grain - 1) / place.grain * place.grain;
        if (to > from) cost += std::max(to - from, shortest);
        read = std::max(read, to);
        return true;
    });
    return cost;
}

Status read_section(const Place& place, const PlaceSource& from, Delivery& delivery, Source& source,
                    std::span<char> buffer, StreamCounts& counts) {
    const Index stride = byte_strides(place);
    const std::int64_t most = std::ssize(buffer) / place.element;
    char fill[8];
    default_fill(delivery.array.type, fill);
    Status status;
    for (const WantedBox& wanted : delivery.boxes) {
        const SideRanges ranges = ranges_of(place, wanted.box, delivery.step);
        for_ranges(place, wanted.box, delivery.step, ranges, [&](std::int64_t first) {
            const std::int64_t end = first + ranges.length;
            for (std::int64_t now = first; now < end && status.ok();) {
                const std::int64_t n = std::min(end - now, most);
                const ReadRange range{from.variable,    from.record, &from.part,
                                      from.first + now, n,           buffer.data()};
                status = source.read({&range, 1});
                if (!status.ok()) break;
                Stopwatch watch(counts.pack);
                for_boxes_of_range(place.shape, now, now + n, [&](const Box& box) {
                    Box common;
                    if (!intersect(box, wanted.box, common)) return;
                    const std::int64_t at = linear(place.shape, common.low) - now;
                    deliver(delivery, wanted, common, buffer.data() + at * place.element, stride,
                            fill);
                });
                now += n;
            }
            return status.ok();
        });
        if (!status.ok()) break;
    }
    end_streams();
    return status;
}

}  // namespace thalweg::detail
