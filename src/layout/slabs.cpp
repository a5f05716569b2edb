// SPDX-License-Identifier: Apache-2.0

#include "layout/layout.hpp"

namespace thalweg::detail {

namespace {

class SlabsLayout final : public Layout {
public:
    using Layout::Layout;

    Share share(int w, const FileSection& space, std::int64_t) const override {
        std::vector<std::optional<Box>> boxes;
        for (const VariableSlot& p : space.places) {
            const std::int64_t rows = slowest(p);
            const std::int64_t begin = w < writers() ? first_row(w, rows) : rows;
            const std::int64_t end = w < writers() ? first_row(w + 1, rows) : rows;
            boxes.emplace_back();
            if (begin == end) continue;
            Box& box = boxes.back().emplace(whole_box(p.shape));
            if (box.nd == 0) continue;
            box.low[0] = begin;
            box.count[0] = end - begin;
        }
        return {space, boxes, false};
    }

    void add_writers(const FileSection& space, std::size_t place, const Box& box,
                     std::set<int>& met) const override {
        const std::int64_t rows = slowest(space.places[place]);
        auto owner = [&](std::int64_t row) {
            int w = row * writers() / rows;
            while (first_row(w + 1, rows) <= row) ++w;
            return w;
        };
        const std::int64_t first = box.nd == 0 ? 0 : box.low[0];
        const std::int64_t last = box.nd == 0 ? 0 : first + box.count[0] - 1;
        for (int w = owner(first), end = owner(last); w <= end; ++w) met.insert(w);
    }

private:
    static std::int64_t slowest(const VariableSlot& p) {
        return p.shape.empty() ? 1 : p.shape.front();
    }
    std::int64_t first_row(int w, std::int64_t rows) const { return rows * w / writers(); }
};

}  // namespace

std::unique_ptr<Layout> make_slabs_layout(int writers) {
    return std::make_unique<SlabsLayout>(writers);
}

}  // namespace thalweg::detail
