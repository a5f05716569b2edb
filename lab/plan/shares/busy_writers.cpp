// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/busy_writers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "plan/shares/samples.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Number of bytes whose writers are found, and number of writers that are sampled.
constexpr std::int64_t sampled_bytes = 64, sampled_writers = 8;

double bytes_of_share(const Share& share) {
    double bytes = 0;
    for (const Extent& e : share.extents()) bytes += e.size();
    return bytes;
}

/// Returns the writer of the element at a byte of the space, and the bytes that this writer owns. A
/// layout of ranges may name several candidates, one of which has the byte; a layout of boxes names
/// only one.
std::pair<int, double> writer_of(const Layout& layout, const FileSection& space,
                                 std::int64_t byte) {
    const std::size_t at = space.place_at(byte);
    const VariableSlot& place = space.places[at];
    const std::int64_t inside = std::clamp<std::int64_t>(byte - place.offset, 0, place.bytes - 1);
    const std::int64_t element = inside / place.element;
    std::set<int> writers;
    for_boxes_of_range(place.shape, element, element + 1,
                       [&](const Box& box) { layout.add_writers(space, at, box, writers); });
    const std::int64_t found = place.offset + element * place.element;
    for (const int w : writers) {
        const Share share = layout.share(w, space, 0);
        const auto& extents = share.extents();
        const bool owns = share.boxed() || std::ranges::any_of(extents, [&](const Extent& e) {
                              return e.begin <= found && found < e.end;
                          });
        if (owns && !extents.empty()) return {w, bytes_of_share(share)};
    }
    return {-1, 0};
}

}  // namespace

BusyWriters busy_writers(const Layout& layout, const FileSection& space) {
    std::map<int, double> found;  // bytes of each writer that was found, by its number
    double sum = 0;
    std::int64_t samples = 0;
    for (std::int64_t i = 0; i < sampled_bytes && space.bytes > 0; ++i) {
        const auto [writer, bytes] =
            writer_of(layout, space, irregular_sample(i, sampled_bytes, space.bytes));
        if (bytes <= 0) continue;
        found[writer] = bytes;
        // Weight each writer by the inverse of its bytes, because the probability to find it is
        // proportional to them.
        sum += space.bytes / bytes;
        ++samples;
    }
    BusyWriters busy;
    if (samples == 0) return busy;
    busy.number = std::clamp<double>(sum / samples, found.size(), layout.writers());
    std::vector<int>& all = busy.some;
    int busiest = found.begin()->first;
    for (const auto& [writer, bytes] : found) {
        all.push_back(writer);
        if (bytes > found[busiest]) busiest = writer;
    }
    const std::int64_t n = std::min<std::int64_t>(sampled_writers, all.size());
    std::set<int> few{busiest};
    for (std::int64_t i = 0; i < n; ++i) few.insert(all[sample(i, n, all.size())]);
    busy.few.assign(few.begin(), few.end());
    return busy;
}

}  // namespace thalweg::planning
