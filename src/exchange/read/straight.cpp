// SPDX-License-Identifier: Apache-2.0
#include "exchange/read/straight.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "exchange/pack/dense.hpp"
#include "index/runs.hpp"

namespace thalweg::detail {

namespace {

/// Longest gap in bytes between wanted elements that is read rather than skipped: another read call
/// would take as long.
constexpr std::int64_t largest_gap = std::int64_t(16) << 10;

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

double section_cost(const VariableSlot& place, const WantedBox& wanted, const Index& step,
                    std::int64_t shortest) {
    const Runs runs = runs_of(wanted.box, place.shape, step, largest_gap / place.element);
    const std::int64_t bytes = runs.length * place.element;
    if (place.grain <= 0) return runs.count * std::max<double>(bytes, shortest);
    // Bytes are read in units of the grain, and the last unit is kept for the next run.
    double cost = 0;
    std::int64_t read = 0;
    for_runs(wanted.box, place.shape, runs, step, [&](std::int64_t first) {
        const std::int64_t begin = first * place.element;
        const std::int64_t from = std::max(read, begin / place.grain * place.grain);
        const std::int64_t to = (begin + bytes + place.grain - 1) / place.grain * place.grain;
        if (to > from) cost += std::max(to - from, shortest);
        read = std::max(read, to);
        return true;
    });
    return cost;
}

RunCounts count_runs(const FileSection& space, std::span<const Delivery> deliveries) {
    RunCounts counts;
    for (const Delivery& delivery : deliveries) {
        const VariableSlot& place = space.places[delivery.place];
        if (place.grain > 0) ++counts.against;
        for (const WantedBox& wanted : delivery.boxes) {
            if (wanted.list) ++counts.against;
            const Runs runs = runs_of(wanted.box, place.shape);
            counts.runs += runs.count;
            counts.bytes += runs.count * runs.length * place.element;
        }
    }
    return counts;
}

Status read_straight(const VariableSlot& place, const PlaceSource& from, Delivery& delivery,
                     Source& source, std::span<char> buffer, StreamCounts& counts) {
    const Index stride = byte_strides(place);
    const std::int64_t most = std::ssize(buffer) / place.element;
    const bool is_section = delivery.decomposition == nullptr;
    const std::int64_t gap = is_section ? largest_gap / place.element : 0;
    char fill[8];
    default_fill(delivery.array.type, fill);
    Status status;
    for (const WantedBox& wanted : delivery.boxes) {
        const Runs runs = runs_of(wanted.box, place.shape, delivery.step, gap);
        for_runs(wanted.box, place.shape, runs, delivery.step, [&](std::int64_t first) {
            const std::int64_t end = first + runs.length;
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

Status read_straight(const FileSection& space, std::span<const PlaceSource> sources,
                     std::span<Delivery> deliveries, Source& source, std::span<char> buffer,
                     StreamCounts& counts) {
    std::vector<Delivery*> in_order;
    for (Delivery& delivery : deliveries) in_order.push_back(&delivery);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const Delivery* a, const Delivery* b) { return a->place < b->place; });
    for (Delivery* const delivery : in_order) {
        const std::size_t place = delivery->place;
        Status status =
            read_straight(space.places[place], sources[place], *delivery, source, buffer, counts);
        if (!status.ok()) return status;
    }
    return {};
}

}  // namespace thalweg::detail
