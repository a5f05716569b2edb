// SPDX-License-Identifier: Apache-2.0
#include "layout/grid.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

/// The dimension of a place along which the grid divides it; -1: none.
struct Axis {
    int at = -1;
    const Cut* cut = nullptr;
};

Axis find_axis(const VariableSlot& place, const std::vector<Cut>& cuts) {
    for (std::size_t d = place.dims.size(); d-- > 0;)
        for (const Cut& cut : cuts)
            if (cut.dim == place.dims[d]) return {static_cast<int>(d), &cut};
    return {};
}

class GridLayout final : public Layout {
public:
    explicit GridLayout(Grid grid) : Layout(grid.parts()), grid_(std::move(grid)) {}

    Share share(int w, const FileSection& space, std::int64_t) const override {
        std::vector<std::optional<Box>> boxes;
        for (const VariableSlot& p : space.places) boxes.push_back(box_of(w, p));
        return {space, boxes, grid_.own_files};
    }

    void add_writers(const FileSection& space, std::size_t place, const Box& box,
                     std::set<int>& met) const override {
        const VariableSlot& p = space.places[place];
        const auto [first_row, last_row] =
            parts_met(find_axis(p, grid_.y), box, grid_.rows, p.variable);
        const auto [first_column, last_column] =
            parts_met(find_axis(p, grid_.x), box, grid_.columns, p.variable);
        for (int r = first_row; r <= last_row; ++r)
            for (int c = first_column; c <= last_column; ++c) met.insert(r * grid_.columns + c);
    }

private:
    std::optional<Box> box_of(int w, const VariableSlot& p) const {
        if (w >= writers()) return {};
        Box box = whole_box(p.shape);
        const bool whole = narrow(find_axis(p, grid_.y), w / grid_.columns, grid_.rows, p, box) &&
                           narrow(find_axis(p, grid_.x), w % grid_.columns, grid_.columns, p, box);
        return whole ? std::optional(box) : std::nullopt;
    }

    /// Reduces a box to one part of a divided axis.
    /// @return false if nothing is left
    bool narrow(const Axis& axis, int part, int parts, const VariableSlot& p, Box& box) const {
        if (axis.at < 0) return grid_.own_files || part == p.variable % parts;
        const std::size_t k = part;
        const std::vector<std::int64_t>& begin = axis.cut->begin;
        const std::int64_t end = k + 1 < begin.size() ? begin[k + 1] : p.shape[axis.at];
        box.low[axis.at] = begin[k];
        box.count[axis.at] = end - begin[k];
        return box.count[axis.at] > 0;
    }

    std::pair<int, int> parts_met(const Axis& axis, const Box& box, int parts, int variable) const {
        if (axis.at < 0 && grid_.own_files) return {0, parts - 1};
        if (axis.at < 0) return {variable % parts, variable % parts};
        auto part_of = [&](std::int64_t index) {
            const auto& begin = axis.cut->begin;
            return static_cast<int>(std::upper_bound(begin.begin(), begin.end(), index) -
                                    begin.begin()) -
                   1;
        };
        const std::int64_t low = box.low[axis.at];
        return {part_of(low), part_of(low + box.count[axis.at] - 1)};
    }

    Grid grid_;
};

}  // namespace

std::vector<std::int64_t> cut_dimension(std::span<const std::int64_t> starts, std::int64_t length,
                                        int parts) {
    const std::int64_t n = starts.size();
    std::vector<std::int64_t> begin;
    for (std::int64_t k = 0; k < parts; ++k)
        begin.push_back(n >= parts ? starts[k * n / parts] : length * k / parts);
    return begin;
}

std::unique_ptr<Layout> make_grid_layout(Grid grid) {
    return std::make_unique<GridLayout>(std::move(grid));
}

std::unique_ptr<Layout> make_layout(const LayoutChoice& choice) {
    if (choice.gridded()) return make_grid_layout(choice.grid);
    if (choice.method == "slabs" && choice.writers > 1) return make_slabs_layout(choice.writers);
    return make_record_layout(choice.method == "serial" ? 1 : choice.writers, choice.alignment,
                              choice.part);
}

}  // namespace thalweg::detail
