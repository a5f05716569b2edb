// SPDX-License-Identifier: Apache-2.0
#include "map.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::pio {

namespace {

// Appends box b, which has one element along dimension d, to box a if it continues it there: their
// other lengths and positions are the same, and their elements are equally far apart in the map.
bool append(MapBox& a, const MapBox& b, std::size_t d) {
    for (std::size_t i = 0; i < a.start.size(); i++) {
        if (i == d) {
            if (b.start[i] != a.start[i] + a.count[i]) return false;
        } else if (a.start[i] != b.start[i] || a.count[i] != b.count[i] || a.step[i] != b.step[i]) {
            return false;
        }
    }
    const Index step = b.position - a.position - (a.count[d] - 1) * a.step[d];
    if (a.count[d] > 1 && step != a.step[d]) return false;
    a.step[d] = step;
    a.count[d]++;
    return true;
}

// Keeps the first step that is found, in place of 0; returns false if a later one differs from it.
bool agree_on(Index& step, Index found) {
    if (step == 0) step = found;
    return step == found;
}

}  // namespace

Map::Map(Shape shape, std::vector<Index> dofs)
    : shape_(std::move(shape)), size_(static_cast<Index>(dofs.size())), list_(std::move(dofs)) {
    held_ = size_ - std::count(list_.begin(), list_.end(), Index{-1});
    find_boxes();
}

// Calls visit(first index in the map, element, length) for each run of consecutive elements along
// the fastest dimension.
template <class Visit>
void Map::for_runs(Visit visit) const {
    const Index row = shape_.back();
    for (Index i = 0; i < size_;) {
        const Index first = list_[static_cast<std::size_t>(i)];
        Index n = 1;
        if (first >= 0) {
            const Index most = std::min(size_ - i, row - first % row);
            while (n < most && list_[static_cast<std::size_t>(i + n)] == first + n) n++;
            visit(i, first, n);
        }
        i += n;
    }
}

// Joins runs along the fastest dimension to boxes: equal runs to rows, equal rows to slabs, and so
// on.
void Map::find_boxes() {
    const std::size_t nd = shape_.size();
    Index runs = 0;
    for_runs([&](Index, Index, Index) { runs++; });
    if (runs > std::max<Index>(4, size_ / 2)) {
        is_boxes_ = false;
        return;
    }
    boxes_.reserve(static_cast<std::size_t>(runs));
    for_runs([&](Index place, Index first, Index n) {
        MapBox box{Shape(nd), Shape(nd, 1), place, Shape(nd, 0)};
        for (std::size_t d = nd; d-- > 0; first /= shape_[d]) box.start[d] = first % shape_[d];
        box.count.back() = n;
        box.step.back() = n > 1 ? 1 : 0;
        boxes_.push_back(std::move(box));
    });
    for (std::size_t d = nd - 1; d-- > 0;) {
        std::vector<MapBox> merged;
        for (MapBox& box : boxes_)
            if (merged.empty() || !append(merged.back(), box, d)) merged.push_back(std::move(box));
        boxes_ = std::move(merged);
    }
    is_boxes_ = dense() || find_steps();
}

// Finds the steps that all boxes have; returns false if they differ.
bool Map::find_steps() {
    steps_.assign(shape_.size() + 1, 0);
    for (std::size_t b = 0; b < boxes_.size(); b++) {
        const MapBox& box = boxes_[b];
        if (b > 0 && !agree_on(steps_[0], box.position - boxes_[b - 1].position)) return false;
        for (std::size_t d = 0; d < shape_.size(); d++)
            if (box.count[d] > 1 && !agree_on(steps_[d + 1], box.step[d])) return false;
    }
    return true;
}

// Largest number of boxes of a map. More boxes would be slower than a list: each box is a separate
// part, whereas the runs of a list are described and copied together.
constexpr Index most_boxes = 16;

MapForms Map::forms() const {
    MapForms forms;
    const auto n = static_cast<Index>(boxes_.size());
    forms.boxes = is_boxes_ && (n <= 4 || (n * 32 <= held_ && n <= most_boxes));
    for (std::size_t k = 1; k < std::min<std::size_t>(shape_.size(), 32); k++) {
        const Index inner = volume(shape_, k), times = volume(shape_) / std::max<Index>(inner, 1);
        bool same = times > 0 && size_ % times == 0;
        const Index n_inner = same ? size_ / times : 0;
        for (Index i = 0; same && i < size_; i++) {
            const Index base = list_[static_cast<std::size_t>(i % n_inner)];
            const Index here = list_[static_cast<std::size_t>(i)];
            same = base < inner && here == (base < 0 ? base : base + i / n_inner * inner);
        }
        if (!same) forms.products &= ~(1U << k);
    }
    return forms;
}

void Map::choose(bool boxes, int leading) {
    is_boxes_ = boxes;
    if (boxes) {
        list_ = {};
        return;
    }
    boxes_ = {};
    leading_ = leading;
    Index times = 1;
    for (int d = 0; d < leading; d++) times *= shape_[static_cast<std::size_t>(d)];
    if (times > 1) {
        list_.resize(static_cast<std::size_t>(size_ / times));
        list_.shrink_to_fit();
    }
}

std::vector<Index> Map::dofs() const {
    std::vector<Index> result(static_cast<std::size_t>(size_), -1);
    if (!is_boxes_) {
        const auto n = static_cast<Index>(list_.size());
        const Index inner = volume(shape_, static_cast<std::size_t>(leading_));
        for (Index i = 0; i < size_; i++) {
            const Index base = list_[static_cast<std::size_t>(i % n)];
            if (base >= 0) result[static_cast<std::size_t>(i)] = base + i / n * inner;
        }
        return result;
    }
    for (const MapBox& box : boxes_) {
        Shape at(box.start.size(), 0);
        for (Index i = 0, n = volume(box.count); i < n; i++) {
            Index index = 0, position = box.position;
            for (std::size_t d = 0; d < at.size(); d++) {
                index = index * shape_[d] + box.start[d] + at[d];
                position += at[d] * box.step[d];
            }
            result[static_cast<std::size_t>(position)] = index;
            for (std::size_t d = at.size(); d-- > 0 && ++at[d] == box.count[d];) at[d] = 0;
        }
    }
    return result;
}

}  // namespace thalweg::pio
