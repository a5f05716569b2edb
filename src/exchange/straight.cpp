// SPDX-License-Identifier: Apache-2.0
#include "exchange/straight.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "exchange/parts.hpp"

namespace thalweg::detail {

namespace {

/// The runs of a box in its place's row-major order: as many as the first dimensions say, of
/// `length` elements.
struct Runs {
    int outer;  ///< dimensions that are run through one by one
    std::int64_t count = 1, length = 1;
};

Runs runs_of(const Box& box, std::span<const std::int64_t> shape) {
    Runs runs{box.nd};
    bool whole = true;  // all dimensions behind this one
    while (runs.outer > 0 && whole) {
        const int d = --runs.outer;
        runs.length *= box.count[d];
        whole = box.count[d] == shape[d];
    }
    for (int d = 0; d < runs.outer; ++d) runs.count *= box.count[d];
    return runs;
}

/// Calls visit(element range) for each run of a box, until one fails.
template <class Visit>
Status for_ranges(const Box& box, std::span<const std::int64_t> shape, Visit&& visit) {
    const Runs runs = runs_of(box, shape);
    Index at = box.low;
    for (std::int64_t r = 0; r < runs.count; ++r) {
        const std::int64_t first = linear(shape, at);
        if (Status status = visit(ElementRange{first, first + runs.length}); !status.ok())
            return status;
        for (int d = runs.outer - 1; d >= 0; --d) {
            if (++at[d] < box.low[d] + box.count[d]) break;
            at[d] = box.low[d];
        }
    }
    return {};
}

}  // namespace

RunCounts count_runs(const Space& space, std::span<const Delivery> deliveries) {
    RunCounts counts;
    for (const Delivery& delivery : deliveries) {
        const Place& place = space.places[delivery.place];
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

Status read_straight(const Space& space, std::span<const PlaceSource> sources,
                     std::span<Delivery> deliveries, Source& source, std::span<char> buffer,
                     StreamCounts& counts) {
    std::vector<Delivery*> in_order;
    for (Delivery& delivery : deliveries) in_order.push_back(&delivery);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const Delivery* a, const Delivery* b) { return a->place < b->place; });
    for (Delivery* const delivery : in_order) {
        const Place& place = space.places[delivery->place];
        const PlaceSource& from = sources[delivery->place];
        const Index stride = byte_strides(place);
        const std::int64_t most = std::ssize(buffer) / place.element;
        char fill[8];
        default_fill(delivery->array.type, fill);
        for (const WantedBox& wanted : delivery->boxes) {
            Status status = for_ranges(wanted.box, place.shape, [&](ElementRange run) -> Status {
                for (ElementRange now{run.begin, run.begin}; now.begin < run.end;
                     now.begin = now.end) {
                    now.end = std::min(run.end, now.begin + most);
                    const ReadRange range{from.variable, from.record,         &from.part,
                                          now.begin,     now.end - now.begin, buffer.data()};
                    if (Status read = source.read({&range, 1}); !read.ok()) return read;
                    Stopwatch watch(counts.pack);
                    for_boxes_of_range(place.shape, now.begin, now.end, [&](const Box& box) {
                        const std::int64_t at = linear(place.shape, box.low) - now.begin;
                        deliver(*delivery, wanted, box, buffer.data() + at * place.element, stride,
                                fill);
                    });
                }
                return {};
            });
            if (!status.ok()) return status;
        }
    }
    end_streams();
    return {};
}

}  // namespace thalweg::detail
