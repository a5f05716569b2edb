// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <algorithm>

namespace thalweg::detail {

std::size_t FileSection::place_at(std::int64_t byte) const {
    const auto it = std::upper_bound(
        places.begin(), places.end(), byte,
        [](std::int64_t b, const VariableSlot& p) { return b < p.offset + p.padded; });
    return it - places.begin();
}

std::int64_t FileSection::boundary(std::int64_t byte, bool of_share) const {
    const std::size_t i = place_at(byte);
    if (i == places.size() || byte <= places[i].offset) return byte;
    const VariableSlot& p = places[i];
    const std::int64_t unit = of_share && p.grain > 0 ? p.grain : p.element;
    // The padding after the last element belongs to it, so that one writer writes both.
    const std::int64_t within = std::min(byte - p.offset, std::max<std::int64_t>(p.bytes - 1, 0));
    return p.offset + within / unit * unit;
}

std::int64_t FileSection::element_boundary(std::int64_t byte) const {
    return boundary(byte, false);
}
std::int64_t FileSection::share_boundary(std::int64_t byte) const { return boundary(byte, true); }

std::int64_t FileSection::largest_grain() const {
    std::int64_t largest = 8;
    for (const VariableSlot& p : places) largest = std::max(largest, p.grain + p.padded - p.bytes);
    return largest;
}

Share::Share(const FileSection& whole, std::span<const std::optional<Box>> boxes, bool own_file)
    : whole_(&whole), low_(boxes.size()), own_file_(own_file) {
    auto seen = std::make_shared<FileSection>();
    seen->padded = whole.padded;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const VariableSlot& p = whole.places[i];
        VariableSlot place = p;
        place.offset = seen->bytes;
        place.bytes = place.padded = 0;
        if (boxes[i] && boxes[i]->volume() > 0) {
            const Box& box = *boxes[i];
            low_[i] = box.low;
            place.shape.assign(box.count.begin(), box.count.begin() + box.nd);
            place.bytes = place.padded = box.volume() * p.element;
            bool last = true;
            for (int d = 0; d < box.nd; ++d) last &= box.low[d] + box.count[d] == p.shape[d];
            if (own_file && whole.padded)
                place.padded = (place.bytes + 3) / 4 * 4;
            else if (!own_file && last)
                place.padded += p.padded - p.bytes;
        }
        seen->bytes += place.padded;
        seen->places.push_back(std::move(place));
    }
    if (seen->bytes > 0) extents_.push_back({0, seen->bytes});
    boxes_ = std::move(seen);
    seen_ = boxes_.get();
}

Box Share::placed(std::size_t place, Box box) const {
    if (boxed())
        for (int d = 0; d < box.nd; ++d) box.low[d] += low_[place][d];
    return box;
}

std::int64_t Share::position(std::size_t place, Index at) const {
    const std::vector<std::int64_t>& shape = seen_->places[place].shape;
    if (boxed())
        for (std::size_t d = 0; d < shape.size(); ++d) at[d] -= low_[place][d];
    return linear(shape, at);
}

ElementRange Share::reach(std::size_t place, ElementRange range) const {
    if (!boxed() || range.begin >= range.end) return range;
    auto own_position = [&](std::int64_t position) {
        const std::vector<std::int64_t>& shape = seen_->places[place].shape;
        Index at{};
        for (std::size_t d = shape.size(); d-- > 0;) {
            at[d] = low_[place][d] + position % shape[d];
            position /= shape[d];
        }
        return linear(whole_->places[place].shape, at);
    };
    return {own_position(range.begin), own_position(range.end - 1) + 1};
}

ElementRange Share::within(std::size_t place, ElementRange range) const {
    const VariableSlot& p = seen_->places[place];
    if (!boxed() || p.bytes == 0) return boxed() ? ElementRange{} : range;
    // Counts the elements of the box before a position. Elements have the same order in the box and
    // in the place.
    auto before = [&](std::int64_t position) {
        const std::vector<std::int64_t>& shape = whole_->places[place].shape;
        const Index all = strides_of(shape), own = strides_of(p.shape);
        std::int64_t n = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const std::int64_t at = position / all[d] - low_[place][d];
            position %= all[d];
            if (at < 0) return n;
            if (at >= p.shape[d]) return n + p.shape[d] * own[d];
            n += at * own[d];
        }
        return n;
    };
    const std::int64_t end = volume(whole_->places[place].shape);
    auto count = [&](std::int64_t position) {
        return position >= end ? p.bytes / p.element : before(position);
    };
    return {count(range.begin), count(range.end)};
}

std::vector<Extent> extents_of(const FileSection& space, const std::vector<char>& wanted) {
    std::vector<Extent> result;
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        const VariableSlot& p = space.places[i];
        if (!wanted[i] || p.padded == 0) continue;
        if (!result.empty() && result.back().end == p.offset)
            result.back().end = p.offset + p.padded;
        else
            result.push_back({p.offset, p.offset + p.padded});
    }
    return result;
}

std::vector<Extent> intersect(std::span<const Extent> a, std::span<const Extent> b) {
    std::vector<Extent> result;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const Extent common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
        if (common.begin < common.end) result.push_back(common);
        a[i].end < b[j].end ? ++i : ++j;
    }
    return result;
}

}  // namespace thalweg::detail
